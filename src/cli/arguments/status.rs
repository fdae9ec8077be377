//! The exit statuses that each command has, as its help says them.

pub const EXIT_STATUS: &str = "\
Exit status (each command's help has its own):
  0  done
  1  done; synchronisation is missing (--check), no fences are enough, a property fails, or
     reports differ
  2  the command or its input is wrong
  3  a limit or Ctrl-C stopped it before the answer was complete";

pub const ANALYSE: &str = "\
Exit status:
  0  done
  1  done; synchronisation is missing (--check), no fences are enough, or --verify found a
     violation
  2  the command or an input is wrong; the other inputs are done
  3  a limit or Ctrl-C stopped it before the answer was complete (also: --cycles N left cycles
     out, or an abstraction does not decide it)";

pub const CHECK: &str = "\
Exit status:
  0  no errors; there may be warnings
  2  the command or an input is wrong
  3  no errors, but a limit was reached before all states were looked at";

pub const CONVERT: &str = "\
Exit status:
  0  done
  2  the command or its input is wrong
  3  a limit or Ctrl-C stopped it; nothing is written";

pub const COMPARE: &str = "\
Exit status:
  0  the same
  1  different
  2  the command or its input is wrong";

pub const EXPLORE: &str = "\
Exit status:
  0  all states were explored, and every condition holds in them
  1  a condition does not hold (the output shows a run)
  2  the command or its input is wrong
  3  a limit or Ctrl-C stopped it: only a part was explored";

pub const EXPORT: &str = "\
Exit status:
  0  done
  2  the command or its input is wrong, or cannot be said in the language";

pub const FACTS: &str = "\
Exit status:
  0  done
  2  the command or its input is wrong
  3  a limit or Ctrl-C stopped it: the facts are those of a part";

pub const LABELS: &str = "\
Exit status:
  0  done
  2  the command or its input is wrong";

pub const REDUCE: &str = "\
Exit status:
  0  done
  2  the command or its input is wrong";

pub const INFO: &str = "\
Exit status:
  0  done
  2  the command or an input is wrong; the other inputs are done
  3  a limit or Ctrl-C stopped it: the numbers are those of a part";

pub const LITMUS: &str = "\
Exit status:
  0  every condition was decided
  2  the command or a test is wrong; the other tests are done
  3  a limit, Ctrl-C or a loop that was cut off left a condition undecided";

pub const MATRIX: &str = "\
Exit status:
  0  done
  2  the command or an input is wrong; the other inputs are done
  3  a limit or Ctrl-C stopped it before the answer was complete";

pub const VERIFY: &str = "\
Exit status:
  0  verified (the output says what that rests on)
  1  violated (the output shows a run)
  2  the command or its input is wrong
  3  not decided: a limit was reached";

pub const FIX: &str = "\
Exit status:
  0  done: the text has what it needs
  1  no fences are enough; nothing is written
  2  the command or its input is wrong
  3  a limit or Ctrl-C stopped it; nothing is written";

pub const PAGE: &str = "\
Exit status:
  0  done
  2  the command is wrong";
