//! Conditions on a message's properties, in the subset of SQL-92 that RocketMQ documents.
//!
//! sqlparser reads the text; what it read is turned into a small tree of our own that holds
//! nothing but what RocketMQ allows, and values are compared as RocketMQ does.

use sqlparser::ast::{BinaryOperator, Expr, InTarget, Spanned, UnaryOperator, Value};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use crate::error::{Error, ErrorKind, Result};
use crate::record::MessageView;

/// Bytes of a condition, at most: a chain of so many words is no danger to the stack.
const MOST_BYTES: usize = 4096;

/// How deep parentheses may go.
const MOST_DEPTH: usize = 32;

/// A condition on the properties of a message, as RocketMQ's SQL-92 filters have them:
/// comparisons `=`, `<>`, `<`, `<=`, `>`, `>=`, `BETWEEN`, `IN ('a', 'b')`, `IS NULL`, joined by
/// `AND`, `OR` and `NOT`, over properties, numbers, strings in single quotes, `TRUE` and `FALSE`.
///
/// A property is text, and is read as a number of that kind where it is compared with one:
/// `price > 10` is about whole numbers alone, `price > 10.0` about all. A comparison
/// with a property that is missing is neither true nor false, and neither is its opposite; where
/// text that is no number is compared with one, the message is not wanted. Tags and keys are the
/// properties `TAGS` and `KEYS`. A name that SQL reserves stands in double quotes. Any thread may
/// use it.
///
/// ```
/// use spanlog::PropertyFilter;
/// let filter = PropertyFilter::parse("price > 10 AND region = 'eu'")?;
/// let message = |name: &str| match name {
///     "price" => Some("12"),
///     "region" => Some("eu"),
///     _ => None,
/// };
/// assert!(filter.matches_with(message));
/// assert_eq!(PropertyFilter::parse("price >").unwrap_err().offset(), Some(7));
/// # Ok::<(), spanlog::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyFilter(Condition);

#[derive(Clone, Debug, PartialEq)]
enum Condition {
    Constant(bool),
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Compare(Operand, Relation, Operand),
    /// The property is one of the texts.
    IsIn(String, Vec<String>),
    IsNull(Operand),
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Property(String),
    Text(String),
    Whole(i64),
    Fraction(f64),
    Truth(bool),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Relation {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A comparison that makes no sense: of text that is no number with a number.
struct Senseless;

/// What is true, false, or neither.
type Truth = std::result::Result<Option<bool>, Senseless>;

impl PropertyFilter {
    /// Reads a condition.
    ///
    /// # Errors
    /// `Invalid` for what is none, with the byte of the text; `TooLarge` for a text of more
    /// than 4,096 bytes.
    pub fn parse(text: &str) -> Result<Self> {
        if text.len() > MOST_BYTES {
            let error = Error::new(ErrorKind::TooLarge, "the condition is too long");
            return Err(error.with_limit(MOST_BYTES as u64));
        }
        let dialect = GenericDialect {};
        let parser = Parser::new(&dialect).with_recursion_limit(MOST_DEPTH);
        let failed = |error| refusal(text, error);
        let mut parser = parser.try_with_sql(text).map_err(failed)?;
        let expression = parser.parse_expr().map_err(failed)?;
        let next = parser.peek_token();
        if next.token != Token::EOF {
            let start = next.span.start;
            return Err(invalid("the condition ends here", text, start.line, start.column));
        }
        Reader(text).condition(&expression).map(Self)
    }

    /// Whether a message is wanted.
    #[must_use]
    pub fn matches<'a>(&'a self, view: &MessageView<'a>) -> bool {
        self.matches_with(|name| view.property(name))
    }

    /// Whether something with these properties is wanted.
    pub fn matches_with<'a>(&'a self, property: impl Fn(&str) -> Option<&'a str>) -> bool {
        matches!(self.0.truth(&property), Ok(Some(true)))
    }
}

fn invalid(what: &str, text: &str, line: u64, column: u64) -> Error {
    // Lines and columns count from 1, columns in characters.
    let before = text.split_inclusive('\n').take(line.saturating_sub(1) as usize);
    let at = before.map(str::len).sum::<usize>();
    let rest = text.get(at..).unwrap_or_default();
    let skipped = rest.chars().take(column.saturating_sub(1) as usize);
    let at = at + skipped.map(char::len_utf8).sum::<usize>();
    let at = if line == 0 { text.len() } else { at };
    Error::new(ErrorKind::Invalid, format!("condition: {what}")).with_offset(at as u64)
}

/// sqlparser tells the place in its text.
fn refusal(text: &str, error: ParserError) -> Error {
    let (ParserError::TokenizerError(what) | ParserError::ParserError(what)) = error else {
        return invalid("its parentheses go too deep", text, 0, 0);
    };
    let Some((what, place)) = what.rsplit_once(" at Line: ") else {
        return invalid(&what, text, 0, 0);
    };
    let numbers = place.split_once(", Column: ");
    let number = |digits: &str| digits.trim().parse().unwrap_or(0);
    let (line, column) = numbers.map_or((0, 0), |(line, column)| (number(line), number(column)));
    invalid(what, text, line, column)
}

/// Turns what sqlparser read into what RocketMQ allows.
struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn refuse<T>(&self, what: &str, expression: &Expr) -> Result<T> {
        let start = expression.span().start;
        Err(invalid(what, self.0, start.line, start.column))
    }

    fn condition(&self, expression: &Expr) -> Result<Condition> {
        match expression {
            Expr::Nested(inner) => self.condition(inner),
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => Ok(not(self.condition(expr)?)),
            Expr::IsNull(inner) => Ok(Condition::IsNull(self.operand(inner)?)),
            Expr::IsNotNull(inner) => Ok(not(Condition::IsNull(self.operand(inner)?))),
            Expr::BinaryOp { op: BinaryOperator::And, .. } => {
                let mut parts = Vec::new();
                self.join(expression, &BinaryOperator::And, &mut parts)?;
                Ok(Condition::All(parts))
            }
            Expr::BinaryOp { op: BinaryOperator::Or, .. } => {
                let mut parts = Vec::new();
                self.join(expression, &BinaryOperator::Or, &mut parts)?;
                Ok(Condition::Any(parts))
            }
            Expr::BinaryOp { left, op, right } => self.comparison(expression, left, op, right),
            Expr::Between { expr, negated, low, high } => {
                self.between(expression, expr, *negated, low, high)
            }
            Expr::In { expr, target: InTarget::List(list), negated, global: false } => {
                self.is_in(expr, list, *negated)
            }
            Expr::Value(value) if matches!(value.value, Value::Boolean(_)) => {
                Ok(Condition::Constant(value.value == Value::Boolean(true)))
            }
            other => self.refuse("here is no condition that RocketMQ knows", other),
        }
    }

    /// The parts of a chain of one operator, which leans to the left.
    fn join(
        &self,
        expression: &Expr,
        of: &BinaryOperator,
        parts: &mut Vec<Condition>,
    ) -> Result<()> {
        let mut behind = Vec::new();
        let mut rest = expression;
        while let Expr::BinaryOp { left, op, right } = rest
            && op == of
        {
            behind.push(right);
            rest = left;
        }
        parts.push(self.condition(rest)?);
        for part in behind.into_iter().rev() {
            parts.push(self.condition(part)?);
        }
        Ok(())
    }

    fn comparison(
        &self,
        whole: &Expr,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
    ) -> Result<Condition> {
        let (relation, is_negated) = match op {
            BinaryOperator::Eq => (Relation::Equal, false),
            BinaryOperator::NotEq => (Relation::Equal, true),
            BinaryOperator::Lt => (Relation::Less, false),
            BinaryOperator::LtEq => (Relation::LessOrEqual, false),
            BinaryOperator::Gt => (Relation::Greater, false),
            BinaryOperator::GtEq => (Relation::GreaterOrEqual, false),
            _ => return self.refuse("RocketMQ knows no such operator", whole),
        };
        let (left, right) = match relation {
            Relation::Equal => (self.operand(left)?, self.operand(right)?),
            _ => (self.number(left)?, self.number(right)?),
        };
        let condition = Condition::Compare(left, relation, right);
        Ok(if is_negated { not(condition) } else { condition })
    }

    fn between(
        &self,
        whole: &Expr,
        value: &Expr,
        is_negated: bool,
        low: &Expr,
        high: &Expr,
    ) -> Result<Condition> {
        let (value, low, high) = (self.number(value)?, self.number(low)?, self.number(high)?);
        if let (Some(low), Some(high)) = (low.constant(), high.constant())
            && low > high
        {
            return self.refuse("the bounds of BETWEEN stand the wrong way round", whole);
        }
        let side = |relation, bound| Condition::Compare(value.clone(), relation, bound);
        Ok(match is_negated {
            false => Condition::All(vec![
                side(Relation::GreaterOrEqual, low),
                side(Relation::LessOrEqual, high),
            ]),
            true => Condition::Any(vec![side(Relation::Less, low), side(Relation::Greater, high)]),
        })
    }

    fn is_in(&self, value: &Expr, list: &[Expr], is_negated: bool) -> Result<Condition> {
        let Operand::Property(name) = self.operand(value)? else {
            return self.refuse("IN is about a property", value);
        };
        let texts = list.iter().map(|one| match self.operand(one)? {
            Operand::Text(text) => Ok(text),
            _ => self.refuse("IN has a list of texts", one),
        });
        let condition = Condition::IsIn(name, texts.collect::<Result<_>>()?);
        Ok(if is_negated { not(condition) } else { condition })
    }

    /// What may be larger or smaller than something: no text and no truth.
    fn number(&self, expression: &Expr) -> Result<Operand> {
        match self.operand(expression)? {
            Operand::Text(_) | Operand::Truth(_) => {
                self.refuse("only numbers are larger or smaller", expression)
            }
            operand => Ok(operand),
        }
    }

    fn operand(&self, expression: &Expr) -> Result<Operand> {
        match expression {
            Expr::Nested(inner) => self.operand(inner),
            Expr::Identifier(name) => Ok(Operand::Property(name.value.clone())),
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match number_in(expr) {
                Some(digits) => self.constant(&format!("-{digits}"), expression),
                None => self.refuse("only a number has a sign", expression),
            },
            Expr::UnaryOp { op: UnaryOperator::Plus, expr } => match number_in(expr) {
                Some(digits) => self.constant(digits, expression),
                None => self.refuse("only a number has a sign", expression),
            },
            Expr::Value(value) => match &value.value {
                Value::Number(digits, false) => self.constant(digits, expression),
                Value::SingleQuotedString(text) => Ok(Operand::Text(text.clone())),
                Value::Boolean(truth) => Ok(Operand::Truth(*truth)),
                Value::Null => self.refuse("NULL stands behind IS alone", expression),
                _ => self.refuse("RocketMQ knows no such value", expression),
            },
            other => self.refuse("here is neither a property nor a value", other),
        }
    }

    fn constant(&self, digits: &str, expression: &Expr) -> Result<Operand> {
        if let Ok(whole) = digits.parse() {
            return Ok(Operand::Whole(whole));
        }
        let is_whole = digits.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        match digits.parse::<f64>() {
            Ok(fraction) if !is_whole && fraction.is_finite() => Ok(Operand::Fraction(fraction)),
            _ => self.refuse("the number is too large", expression),
        }
    }
}

fn not(condition: Condition) -> Condition {
    Condition::Not(Box::new(condition))
}

fn number_in(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, false) => Some(digits),
            _ => None,
        },
        _ => None,
    }
}

/// A value while a message is looked at.
#[derive(Clone, Copy, Debug)]
enum Known<'a> {
    Text(&'a str),
    Whole(i64),
    Fraction(f64),
    Truth(bool),
}

impl Operand {
    fn constant(&self) -> Option<f64> {
        match self {
            Self::Whole(whole) => Some(*whole as f64),
            Self::Fraction(fraction) => Some(*fraction),
            _ => None,
        }
    }

    fn known<'a>(&'a self, property: &impl Fn(&str) -> Option<&'a str>) -> Option<Known<'a>> {
        Some(match self {
            Self::Property(name) => Known::Text(property(name)?),
            Self::Text(text) => Known::Text(text),
            Self::Whole(whole) => Known::Whole(*whole),
            Self::Fraction(fraction) => Known::Fraction(*fraction),
            Self::Truth(truth) => Known::Truth(*truth),
        })
    }
}

impl Condition {
    fn truth<'a>(&'a self, property: &impl Fn(&str) -> Option<&'a str>) -> Truth {
        match self {
            Self::Constant(truth) => Ok(Some(*truth)),
            Self::Not(inner) => Ok(inner.truth(property)?.map(|truth| !truth)),
            Self::All(parts) => joined(parts, property, false),
            Self::Any(parts) => joined(parts, property, true),
            Self::Compare(left, relation, right) => {
                match (left.known(property), right.known(property)) {
                    (Some(left), Some(right)) => relation.holds(left, right).map(Some),
                    // What is missing on the right is not equal, as RocketMQ has it.
                    (Some(_), None) if *relation == Relation::Equal => Ok(Some(false)),
                    _ => Ok(None),
                }
            }
            Self::IsIn(name, texts) => {
                Ok(property(name).map(|value| texts.iter().any(|text| text == value)))
            }
            Self::IsNull(operand) => Ok(Some(operand.known(property).is_none())),
        }
    }
}

/// One part that is `decisive` decides; else one that is unknown leaves it open.
fn joined<'a>(
    parts: &'a [Condition],
    property: &impl Fn(&str) -> Option<&'a str>,
    decisive: bool,
) -> Truth {
    let mut outcome = Some(!decisive);
    for part in parts {
        match part.truth(property)? {
            Some(truth) if truth == decisive => return Ok(Some(decisive)),
            Some(_) => {}
            None => outcome = None,
        }
    }
    Ok(outcome)
}

impl Relation {
    fn holds(self, left: Known<'_>, right: Known<'_>) -> std::result::Result<bool, Senseless> {
        use Known::{Fraction, Text, Truth, Whole};
        let order = match (left, right) {
            (Text(left), Text(right)) if self == Self::Equal => return Ok(left == right),
            (Text(left), Text(right)) => fraction(left)?.partial_cmp(&fraction(right)?),
            (Text(left), Whole(right)) => Some(whole(left)?.cmp(&right)),
            (Whole(left), Text(right)) => Some(left.cmp(&whole(right)?)),
            (Text(left), Fraction(right)) => fraction(left)?.partial_cmp(&right),
            (Fraction(left), Text(right)) => left.partial_cmp(&fraction(right)?),
            (Whole(left), Whole(right)) => Some(left.cmp(&right)),
            (Whole(left), Fraction(right)) => (left as f64).partial_cmp(&right),
            (Fraction(left), Whole(right)) => left.partial_cmp(&(right as f64)),
            (Fraction(left), Fraction(right)) => left.partial_cmp(&right),
            (Text(text), Truth(truth)) | (Truth(truth), Text(text)) => {
                return Ok(text.eq_ignore_ascii_case("true") == truth);
            }
            (Truth(left), Truth(right)) => return Ok(left == right),
            (Truth(_), _) | (_, Truth(_)) => return Ok(false),
        };
        Ok(order.is_some_and(|order| match self {
            Self::Equal => order.is_eq(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }))
    }
}

fn whole(text: &str) -> std::result::Result<i64, Senseless> {
    text.parse().map_err(|_| Senseless)
}

fn fraction(text: &str) -> std::result::Result<f64, Senseless> {
    text.trim().parse().map_err(|_| Senseless)
}

#[cfg(test)]
#[path = "condition_tests.rs"]
mod tests;
