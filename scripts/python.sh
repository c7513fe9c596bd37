# Sourced by what builds the Python package: the tools it takes, and environments to install it in.
# Everything lies under the target folder; the tools are kept while their list is the same.
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH" PYTHONDONTWRITEBYTECODE=1
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
mkdir -p "${CARGO_TARGET_DIR:-target}/python"
CARGO_TARGET_DIR=$(realpath "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR
built=$CARGO_TARGET_DIR/python
tools=$built/tools
list=bindings-python/tests/requirements.txt
if ! cmp -s "$list" "$tools/installed.txt"; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --requirement "$list"
    cp "$list" "$tools/installed.txt"
fi
PATH=$tools/bin:$PATH

# wheel: builds the package into $built/dist.
wheel() {
    rm -rf "$built/dist"
    (cd bindings-python && maturin build --quiet --release --locked --out "$built/dist")
}

# fresh NAME PYTHON PACKAGE: an environment with the package installed, which also sees the tools
# behind what is its own.
fresh() {
    local home=$built/$1
    rm -rf "$home"
    "$2" -m venv "$home"
    echo "$tools"/lib/python3*/site-packages >"$(echo "$home"/lib/python3*/site-packages)/tools.pth"
    "$home/bin/pip" install --quiet --no-deps --no-build-isolation "$3"
}
