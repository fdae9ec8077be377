//! The functions that terms need, with their equations; those that are used are written.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A function of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    /// An element of a list of integers; 0 if the index is out of range.
    At,
    /// An element of a list of Booleans; false if the index is out of range.
    AtBool,
    /// The list with one element replaced; the list itself if the index is out of range.
    Put,
    /// The same for Booleans.
    PutBool,
    /// The access alone, or none if the index is out of range.
    Inside,
    /// The access alone, or what its index reads if that is out of range.
    InsideOr,
    /// What an index reads, if it is out of range.
    Outside,
    /// The access with its address reads, of which there may be none.
    Element,
    /// An empty condition if the index is out of range.
    Mark,
    /// Division, rounded down.
    Quotient,
    /// The remainder of that.
    Remainder,
    /// A power.
    Power,
}

/// The functions that are used.
#[derive(Default)]
pub(super) struct Helpers {
    used: BTreeSet<Helper>,
}

impl Helpers {
    /// A function with its arguments.
    pub(super) fn apply(&mut self, helper: Helper, arguments: &[&str]) -> String {
        self.used.insert(helper);
        format!("{}({})", helper.name(), arguments.join(", "))
    }

    /// Writes those that are used.
    pub(super) fn write(&self, text: &mut String) {
        for helper in &self.used {
            let _ = writeln!(text, "{}", helper.definition());
        }
    }
}

impl Helper {
    fn name(self) -> &'static str {
        match self {
            Helper::At => "at'",
            Helper::AtBool => "atBool'",
            Helper::Put => "put'",
            Helper::PutBool => "putBool'",
            Helper::Inside => "inside'",
            Helper::InsideOr => "insideOr'",
            Helper::Outside => "outside'",
            Helper::Element => "element'",
            Helper::Mark => "mark'",
            Helper::Quotient => "quotient'",
            Helper::Remainder => "remainder'",
            Helper::Power => "power'",
        }
    }

    fn definition(self) -> &'static str {
        match self {
            Helper::At => {
                "% An element; 0 if the index is out of range.
map
  at': List(Int) # Int -> Int;
var
  l': List(Int);
  x', i': Int;
eqn
  at'([], i') = 0;
  i' == 0 -> at'(x' |> l', i') = x';
  i' != 0 -> at'(x' |> l', i') = at'(l', i' - 1);
"
            }
            Helper::AtBool => {
                "% An element; false if the index is out of range.
map
  atBool': List(Bool) # Int -> Bool;
var
  l': List(Bool);
  x': Bool;
  i': Int;
eqn
  atBool'([], i') = false;
  i' == 0 -> atBool'(x' |> l', i') = x';
  i' != 0 -> atBool'(x' |> l', i') = atBool'(l', i' - 1);
"
            }
            Helper::Put => {
                "% The list with an element replaced; nothing is if the index is out of range.
map
  put': List(Int) # Int # Int -> List(Int);
var
  l': List(Int);
  x', n', i': Int;
eqn
  put'([], i', n') = [];
  i' == 0 -> put'(x' |> l', i', n') = n' |> l';
  i' != 0 -> put'(x' |> l', i', n') = x' |> put'(l', i' - 1, n');
"
            }
            Helper::PutBool => {
                "% The list with an element replaced; nothing is if the index is out of range.
map
  putBool': List(Bool) # Int # Bool -> List(Bool);
var
  l': List(Bool);
  x', n': Bool;
  i': Int;
eqn
  putBool'([], i', n') = [];
  i' == 0 -> putBool'(x' |> l', i', n') = n' |> l';
  i' != 0 -> putBool'(x' |> l', i', n') = x' |> putBool'(l', i' - 1, n');
"
            }
            Helper::Inside => {
                "% The access to element i of n; none if the index is out of range.
map
  inside': Int # Int # Access' -> List(Access');
var
  i', n': Int;
  x': Access';
eqn
  inside'(i', n', x') = if(0 <= i' && i' < n', [x'], []);
"
            }
            Helper::InsideOr => {
                "% The access to element i of n; what was read for the index if it is out of range.
map
  insideOr': Int # Int # Access' # List(Access') -> List(Access');
var
  i', n': Int;
  x': Access';
  l': List(Access');
eqn
  insideOr'(i', n', x', l') = if(0 <= i' && i' < n', [x'], l');
"
            }
            Helper::Outside => {
                "% What was read for the index of element i of n, if it is out of range.
map
  outside': Int # Int # List(Access') -> List(Access');
var
  i', n': Int;
  l': List(Access');
eqn
  outside'(i', n', l') = if(0 <= i' && i' < n', [], l');
"
            }
            Helper::Element => {
                "% The access with what its address needs, which may turn out to be nothing.
map
  element': Location' # List(Access') -> Access';
var
  n': Location';
  x': Access';
  l': List(Access');
eqn
  element'(n', []) = lc'(n');
  element'(n', x' |> l') = lcdp'(n', x' |> l');
"
            }
            Helper::Mark => {
                "% An empty condition where element i of n is out of range: an assignment without a write is no condition.
map
  mark': Int # Int -> List(Item');
var
  i', n': Int;
eqn
  mark'(i', n') = if(0 <= i' && i' < n', [], [A'([], [])]);
"
            }
            Helper::Quotient => {
                "% Division, rounded down; by zero it has no value.
map
  quotient': Int # Int -> Int;
var
  x', n': Int;
eqn
  n' > 0 -> quotient'(x', n') = x' div Int2Pos(n');
  n' < 0 -> quotient'(x', n') = (-x') div Int2Pos(-n');
"
            }
            Helper::Remainder => {
                "% The remainder, with the sign of the divisor; by zero it has no value.
map
  remainder': Int # Int -> Int;
var
  x', n': Int;
eqn
  n' > 0 -> remainder'(x', n') = x' mod Int2Pos(n');
  n' < 0 -> remainder'(x', n') = -((-x') mod Int2Pos(-n'));
"
            }
            Helper::Power => {
                "% A power; with a negative exponent it has no value.
map
  power': Int # Int -> Int;
var
  x', n': Int;
eqn
  n' >= 0 -> power'(x', n') = exp(x', Int2Nat(n'));
"
            }
        }
    }
}
