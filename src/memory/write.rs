//! A model's table as TOML: what [`MemoryModel::from_toml`] reads.

use super::{Dependencies, FenceInstruction, Guarantee, Kind, MarkInstruction, MemoryModel, Pair};
use std::fmt::Write as _;

impl MemoryModel {
    /// The table as a file for `--mm`; read again, it is the same model. Axioms are not said: they are built in, or a
    /// file of their own.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = format!("name = {}\ntitle = {}\n", quoted(&self.name), quoted(&self.title));
        if !self.aliases.is_empty() {
            let _ = writeln!(text, "aliases = {}", list(self.aliases.iter().map(String::as_str)));
        }
        let _ = writeln!(text, "store_atomic = {}\n\n[preserved]", self.store_atomic);
        for pair in Pair::all() {
            let kept = match self.preserved.guarantee(pair) {
                Guarantee::Always => quoted("yes"),
                Guarantee::Never => quoted("no"),
                Guarantee::OnlyIf(needed) => list(names(needed)),
            };
            let _ = writeln!(text, "{} = {kept}", quoted(&pair.to_string()));
        }
        self.marks.iter().for_each(|instruction| text.push_str(&mark(instruction)));
        self.fences.iter().for_each(|instruction| text.push_str(&fence(instruction)));
        text
    }
}

fn names(needed: Dependencies) -> impl Iterator<Item = &'static str> {
    Dependencies::NAMES.into_iter().filter(move |(_, kind)| needed.intersects(*kind)).map(|(name, _)| name)
}

fn fence(fence: &FenceInstruction) -> String {
    let orders: Vec<String> = fence.orders.iter().map(|(first, second)| format!("{first}{second}")).collect();
    let cumulative = if fence.cumulative { "cumulative = true\n" } else { "" };
    let by_axioms = if fence.by_axioms { "by_axioms = true\n" } else { "" };
    format!(
        "\n[[fences]]\nmnemonic = {}\ncost = {}\norders = {}\n{cumulative}{by_axioms}",
        quoted(&fence.mnemonic),
        fence.cost,
        list(orders.iter().map(String::as_str))
    )
}

fn mark(instruction: &MarkInstruction) -> String {
    let of: String = instruction.of_accesses.iter().map(Kind::to_string).collect();
    let only_rmw = if instruction.only_rmw { "only_rmw = true\n" } else { "" };
    format!(
        "\n[[marks]]\nmnemonic = {}\nmark = {}\nof = {}\ncost = {}\n{only_rmw}",
        quoted(&instruction.mnemonic),
        quoted(&instruction.marks.to_string()),
        quoted(&of),
        instruction.cost
    )
}

fn list<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    format!("[{}]", texts.map(quoted).collect::<Vec<_>>().join(", "))
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_table_is_the_same_when_it_is_read_again() {
        for model in MemoryModel::builtin() {
            let text = model.to_toml();
            assert_eq!(MemoryModel::from_toml(&text).as_ref(), Ok(&model), "{text}");
        }
    }

    #[test]
    fn texts_of_users_are_quoted() {
        let mut model = MemoryModel::builtin().swap_remove(0);
        model.title = "a \"quoted\" back\\slash,\n a line and \u{7f}".to_owned();
        model.fences = vec![FenceInstruction {
            mnemonic: "f".to_owned(),
            orders: Vec::new(),
            cumulative: false,
            by_axioms: true,
            cost: 7,
        }];
        assert_eq!(MemoryModel::from_toml(&model.to_toml()), Ok(model));
    }
}
