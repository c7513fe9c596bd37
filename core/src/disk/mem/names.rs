//! The names of a disk in memory: those that everybody sees, those that would survive a crash,
//! and the changes between the two.

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::body::Body;

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Node {
    /// A directory; what is in it is told by the names.
    Directory {
        /// Its number.
        inode: u64,
    },
    /// A file.
    File(Arc<Body>),
}

impl Node {
    /// Its number, of which no other has the same.
    pub fn inode(&self) -> u64 {
        match self {
            Self::Directory { inode } => *inode,
            Self::File(body) => body.inode,
        }
    }

    fn set_named(&self, named: bool) {
        if let Self::File(body) = self {
            body.set_named(named);
        }
    }
}

type Tree = BTreeMap<PathBuf, Node>;

/// One change of names: a new name has no `from`, a removal no `to`, a rename both.
#[derive(Clone, Debug)]
struct Change {
    from: Option<PathBuf>,
    to: Option<PathBuf>,
    node: Node,
}

impl Change {
    fn paths(&self) -> impl Iterator<Item = &Path> {
        self.from.iter().chain(&self.to).map(PathBuf::as_path)
    }

    /// Whether the order of the two matters: they concern the same name, or one the directory of
    /// the other.
    fn touches(&self, path: &Path) -> bool {
        self.paths().any(|own| own.starts_with(path) || path.starts_with(own))
    }

    /// The directory that must be synced for the change to last.
    fn directory(&self) -> Option<&Path> {
        self.to.as_deref().or(self.from.as_deref()).and_then(Path::parent)
    }

    /// Makes the change, or nothing of it if an earlier one that it builds on is missing.
    fn apply(&self, tree: &mut Tree) {
        let holds_it = |path| tree.get(path).is_some_and(|n| n.inode() == self.node.inode());
        let is_there = self.from.as_ref().is_none_or(holds_it);
        let is_free = self.to.as_ref().is_none_or(|path| !tree.contains_key(path));
        let is_empty = self.from.as_ref().is_none_or(|path| below(tree, path).next().is_none());
        if is_there && is_free && is_empty {
            self.from.as_ref().and_then(|path| tree.remove(path));
            self.to.as_ref().and_then(|path| tree.insert(path.clone(), self.node.clone()));
        }
    }
}

/// Everything below a directory.
fn below<'a>(tree: &'a Tree, dir: &'a Path) -> impl Iterator<Item = (&'a PathBuf, &'a Node)> {
    let from = tree.range::<Path, _>((Bound::Included(dir), Bound::Unbounded));
    from.take_while(move |(path, _)| path.starts_with(dir)).filter(move |(path, _)| *path != dir)
}

/// The names of one disk. Paths are absolute and without dots: see [`canonical`].
#[derive(Clone, Debug)]
pub struct Names {
    current: Tree,
    durable: Tree,
    pending: Vec<Change>,
}

impl Names {
    /// A root directory.
    pub fn new(inode: u64) -> Self {
        let root = Tree::from([(PathBuf::from("/"), Node::Directory { inode })]);
        Self { current: root.clone(), durable: root, pending: Vec::new() }
    }

    /// What is at `path`.
    pub fn get(&self, path: &Path) -> Option<&Node> {
        self.current.get(path)
    }

    /// The file at `path`.
    pub fn file(&self, path: &Path) -> io::Result<&Arc<Body>> {
        match self.get(path) {
            Some(Node::File(body)) => Ok(body),
            Some(Node::Directory { .. }) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// The directory at `path`.
    pub fn directory(&self, path: &Path) -> io::Result<u64> {
        match self.get(path) {
            Some(Node::Directory { inode }) => Ok(*inode),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Whether a new name may be made: its directory is there, and it is free.
    pub fn check_free(&self, path: &Path) -> io::Result<()> {
        let dir = path.parent().ok_or(io::ErrorKind::AlreadyExists)?;
        self.directory(dir)?;
        if self.get(path).is_some() { Err(io::ErrorKind::AlreadyExists.into()) } else { Ok(()) }
    }

    /// The names right in a directory.
    pub fn list<'a>(&'a self, dir: &'a Path) -> impl Iterator<Item = (&'a Path, &'a Node)> {
        let inside = below(&self.current, dir).map(|(path, node)| (path.as_path(), node));
        inside.filter(move |(path, _)| path.parent() == Some(dir))
    }

    /// Makes a name; a crash may undo it.
    pub fn link(&mut self, path: &Path, node: Node) -> io::Result<()> {
        self.check_free(path)?;
        node.set_named(true);
        self.change(Change { from: None, to: Some(path.to_owned()), node });
        Ok(())
    }

    /// Renames a file; a crash may undo it.
    pub fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let node = Node::File(Arc::clone(self.file(from)?));
        self.check_free(to)?;
        self.change(Change { from: Some(from.to_owned()), to: Some(to.to_owned()), node });
        Ok(())
    }

    /// Removes a file or an empty directory; a crash may undo it.
    pub fn remove(&mut self, path: &Path) -> io::Result<()> {
        let node = self.get(path).ok_or(io::ErrorKind::NotFound)?.clone();
        if below(&self.current, path).next().is_some() || path.parent().is_none() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        node.set_named(false);
        self.change(Change { from: Some(path.to_owned()), to: None, node });
        Ok(())
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.current);
        self.pending.push(change);
    }

    /// Puts something at `path` at once and durably, in place of what was there.
    pub fn put(&mut self, path: &Path, node: Node) {
        self.settle(|change| change.touches(path));
        if let Some(old) = self.current.get(path) {
            old.set_named(false);
        }
        node.set_named(true);
        self.durable.insert(path.to_owned(), node.clone());
        self.current.insert(path.to_owned(), node);
    }

    /// Loses `path` and all below it, at once and durably.
    pub fn lose(&mut self, path: &Path) {
        self.settle(|change| change.touches(path));
        let lost = self.current.extract_if(.., |own, _| own.starts_with(path));
        lost.for_each(|(_, node)| node.set_named(false));
        self.durable.retain(|own, _| !own.starts_with(path));
    }

    /// Makes the names in a directory durable.
    pub fn sync(&mut self, dir: &Path) {
        self.settle(|change| change.directory() == Some(dir));
    }

    /// Whether a directory's names are all durable.
    pub fn is_synced(&self, dir: &Path) -> bool {
        self.pending.iter().all(|change| change.directory() != Some(dir))
    }

    /// Makes the changes durable that are wanted, and those before them that they build on.
    fn settle(&mut self, wanted: impl Fn(&Change) -> bool) {
        let mut settled: Vec<Change> = Vec::new();
        let mut open = Vec::new();
        for change in std::mem::take(&mut self.pending).into_iter().rev() {
            let needed = |later: &Change| later.paths().any(|path| change.touches(path));
            let list = if wanted(&change) || settled.iter().any(needed) {
                &mut settled
            } else {
                &mut open
            };
            list.push(change);
        }
        settled.iter().rev().for_each(|change| change.apply(&mut self.durable));
        self.pending = open.into_iter().rev().collect();
    }

    /// The names after a crash: each change that was not durable may have been lost.
    pub fn crash(&self, choose: &mut dyn FnMut() -> bool) -> Self {
        let mut durable = self.durable.clone();
        for change in &self.pending {
            if choose() {
                change.apply(&mut durable);
            }
        }
        Self { current: durable.clone(), durable, pending: Vec::new() }
    }

    /// The same names for other files.
    pub fn with_bodies(&self, mut other: impl FnMut(&Body) -> Body) -> Self {
        let swapped = |body: &Arc<Body>| (body.inode, Arc::new(other(body)));
        let bodies: BTreeMap<u64, Arc<Body>> = self.bodies().map(swapped).collect();
        let swap = |node: &mut Node| {
            if let Node::File(body) = node {
                *body = Arc::clone(&bodies[&body.inode]);
            }
        };
        let mut names = self.clone();
        names.current.values_mut().for_each(swap);
        names.durable.values_mut().for_each(swap);
        names.pending.iter_mut().map(|change| &mut change.node).for_each(swap);
        names.current.values().for_each(|node| node.set_named(true));
        names
    }

    /// Each file that has a name, or had one before what is not durable yet, by its number.
    pub fn bodies(&self) -> impl Iterator<Item = &Arc<Body>> {
        let pending = self.pending.iter().map(|change| &change.node);
        let nodes = self.current.values().chain(self.durable.values()).chain(pending);
        let files: BTreeMap<u64, &Arc<Body>> = nodes.filter_map(as_file).collect();
        files.into_values()
    }
}

fn as_file(node: &Node) -> Option<(u64, &Arc<Body>)> {
    match node {
        Node::File(body) => Some((body.inode, body)),
        Node::Directory { .. } => None,
    }
}

/// The path without dots and doubled separators; relative ones begin at the root.
pub fn canonical(path: &Path) -> PathBuf {
    let mut canonical = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::ParentDir => drop(canonical.pop()),
            Component::Normal(name) => canonical.push(name),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    canonical
}
