//! The functions of `stdatomic.h`, with `_explicit` and an order or without, which is `memory_order_seq_cst`.
//!
//! | order | marks of an access | fence |
//! |---|---|---|
//! | `relaxed` | `RELAXED` | none |
//! | `consume`, `acquire` | `RELAXED`, `ACQUIRE` | `Acquire` |
//! | `release` | `RELAXED`, `RELEASE` | `Release` |
//! | `acq_rel` | `RELAXED`, `ACQUIRE`, `RELEASE` | `AcquireRelease` |
//! | `seq_cst` | `RELAXED`, `SC` | full |
//!
//! *Compare and exchange* reads what is expected through its second argument, a location or `&r0`, compares, and
//! writes what it found back there if that is something else. One that fails has no write; its read has the order of
//! success: an order of its own for failure, which may only be weaker, is checked and otherwise left alone. The weak
//! form may also fail for no reason, and then does have the order of failure.

use super::syntax::Expr;
use super::translate::{Place, Translator};
use crate::lang::Diagnostic;
use crate::lang::litmus::assembler::marked;
use crate::lang::litmus::atomic::{is_equal, only_if};
use crate::lang::litmus::expressions::{indicator, modify};
use crate::lang::litmus::piece::Piece;
use crate::program::{Assignment, Expression, InstructionKind, Marks, PartialFence, Reference};
use crate::text::counted;

const SUPPORTED: &str = "supported: atomic_load, atomic_store, atomic_exchange, atomic_fetch_add _sub _or _xor _and, \
                         atomic_compare_exchange_strong and _weak, all with or without _explicit, atomic_thread_fence";

/// An order of C.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

impl Order {
    fn marks(self) -> Marks {
        Marks::RELAXED.and(match self {
            Order::Relaxed => Marks::NONE,
            Order::Acquire => Marks::ACQUIRE,
            Order::Release => Marks::RELEASE,
            Order::AcquireRelease => Marks::ACQUIRE.and(Marks::RELEASE),
            Order::SequentiallyConsistent => Marks::SC,
        })
    }

    fn fence(self) -> InstructionKind {
        match self {
            Order::Relaxed => InstructionKind::Plain,
            Order::Acquire => InstructionKind::PartialFence(PartialFence::Acquire),
            Order::Release => InstructionKind::PartialFence(PartialFence::Release),
            Order::AcquireRelease => InstructionKind::PartialFence(PartialFence::AcquireRelease),
            Order::SequentiallyConsistent => InstructionKind::Fence,
        }
    }

    fn named(argument: &Expr<'_>) -> Result<Order, Diagnostic> {
        let name = if let Expr::Name(name) = argument { name.text } else { "" };
        Ok(match name {
            "memory_order_relaxed" => Order::Relaxed,
            "memory_order_acquire" | "memory_order_consume" => Order::Acquire,
            "memory_order_release" => Order::Release,
            "memory_order_acq_rel" => Order::AcquireRelease,
            "memory_order_seq_cst" => Order::SequentiallyConsistent,
            _ => {
                return Err(Diagnostic::error(argument.span(), "expected a memory order")
                    .with_help("memory_order_relaxed, _consume, _acquire, _release, _acq_rel or _seq_cst"));
            }
        })
    }
}

/// A call, with its orders taken off.
struct Called<'c, 't> {
    name: Piece<'t>,
    /// What is called, without prefix and suffix: `load`, `fetch_add`.
    function: &'t str,
    arguments: &'c [Expr<'t>],
    order: Order,
    /// That of failure.
    failure: Order,
}

impl<'c, 't> Called<'c, 't> {
    fn new(name: Piece<'t>, arguments: &'c [Expr<'t>]) -> Result<Called<'c, 't>, Diagnostic> {
        let unknown = || name.error(format!("the function `{}` is not supported", name.text)).with_help(SUPPORTED);
        let stem = name.text.strip_prefix("atomic_").ok_or_else(unknown)?;
        let (function, is_explicit) = match stem.strip_suffix("_explicit") {
            Some(function) => (function, true),
            None => (stem, stem.ends_with("_fence")),
        };
        let operands = match function {
            "thread_fence" | "signal_fence" => 0,
            "load" => 1,
            "store" | "exchange" => 2,
            "compare_exchange_strong" | "compare_exchange_weak" => 3,
            _ if function.strip_prefix("fetch_").and_then(modify).is_some() => 2,
            _ => return Err(unknown()),
        };
        let orders = match (is_explicit, operands) {
            (false, _) => 0,
            (true, 3) => 2,
            (true, _) => 1,
        };
        if arguments.len() != operands + orders {
            let count = operands + orders;
            return Err(name.error(format!(
                "`{}` takes {}, this has {}",
                name.text,
                counted(count, "argument"),
                arguments.len()
            )));
        }
        let (arguments, orders) = arguments.split_at(operands);
        let orders = orders.iter().map(Order::named).collect::<Result<Vec<_>, _>>()?;
        let order = orders.first().copied().unwrap_or(Order::SequentiallyConsistent);
        let failure = orders.get(1).copied().unwrap_or(order);
        Ok(Called { name, function, arguments, order, failure })
    }

    /// The order must be one of those that make sense.
    fn only(&self, order: Order, wrong: &[Order]) -> Result<(), Diagnostic> {
        if wrong.contains(&order) {
            return Err(self.name.error(format!("`{}` cannot have this order", self.name.text)).with_help(
                "a load does not release and a store does not acquire; the order of failure is one of a load",
            ));
        }
        Ok(())
    }
}

impl Translator<'_> {
    /// Calls a function; what it gives goes to the target, if there is one.
    pub fn call<'t>(
        &mut self,
        name: Piece<'t>,
        arguments: &[Expr<'t>],
        target: Option<Reference>,
    ) -> Result<Option<Expression>, Diagnostic> {
        let called = Called::new(name, arguments)?;
        let span = name.span();
        let kind = InstructionKind::Rmw(called.order.marks());
        match (called.function, called.arguments) {
            ("load", [address]) => {
                called.only(called.order, &[Order::Release, Order::AcquireRelease])?;
                let location = self.pointed(address)?;
                let target = target.unwrap_or_else(|| self.own(span));
                let read = Assignment { target: target.clone(), value: Expression::Read(location) };
                self.emit(marked(called.order.marks()), vec![read], span);
                Ok(Some(Expression::Read(target)))
            }
            ("store", [address, value]) => {
                called.only(called.order, &[Order::Acquire, Order::AcquireRelease])?;
                let location = self.pointed(address)?;
                let value = self.value(value)?;
                self.emit(marked(called.order.marks()), vec![Assignment { target: location, value }], span);
                Ok(None)
            }
            ("thread_fence", _) => {
                self.emit(called.order.fence(), Vec::new(), span);
                Ok(None)
            }
            // It orders only what a compiler does.
            ("signal_fence", _) => Ok(None),
            (function, [address, value]) => {
                let operator = modify(function.strip_prefix("fetch_").unwrap_or("swap"));
                let operator = operator.ok_or_else(|| name.error("no such function"))?;
                let location = self.pointed(address)?;
                let value = self.value(value)?;
                let kept = self.own(span);
                let old = || Expression::Read(kept.clone());
                let mut assignments = vec![
                    Assignment { target: kept.clone(), value: Expression::Read(location.clone()) },
                    Assignment { target: location, value: operator(old(), value, span) },
                ];
                if let Some(target) = &target {
                    assignments.push(Assignment { target: target.clone(), value: old() });
                }
                self.emit(kind, assignments, span);
                Ok(Some(Expression::Read(target.unwrap_or(kept))))
            }
            (_, [address, expected, new]) => self.compare_exchange(&called, [address, expected, new], target),
            _ => Err(name.error("no such function")),
        }
    }

    fn compare_exchange(
        &mut self,
        called: &Called<'_, '_>,
        [address, expected, new]: [&Expr<'_>; 3],
        target: Option<Reference>,
    ) -> Result<Option<Expression>, Diagnostic> {
        let span = called.name.span();
        if called.failure != called.order {
            called.only(called.failure, &[Order::Release, Order::AcquireRelease])?;
        }
        let location = self.pointed(address)?;
        let is_variable =
            matches!(expected, Expr::Unary(and, inner) if and.text == "&" && matches!(**inner, Expr::Name(_)));
        let place = match expected {
            Expr::Unary(_, inner) if is_variable => self.place(inner)?,
            _ => Place::Shared(self.pointed(expected)?),
        };
        let wanted = match &place {
            Place::Local(variable) => Expression::Read(variable.clone()),
            Place::Shared(location) => self.keep(InstructionKind::Plain, Expression::Read(location.clone()), span),
        };
        let new = self.value(new)?;
        self.index(&location);
        let (kept, result) = (self.own(span), target.unwrap_or_else(|| self.own(span)));
        let old = || Expression::Read(kept.clone());
        let is_found = is_equal(old(), wanted, span);
        let read = Assignment { target: kept.clone(), value: Expression::Read(location.clone()) };
        let mut ways = vec![(
            InstructionKind::Rmw(called.order.marks()),
            vec![
                read.clone(),
                Assignment { target: only_if(&location, is_found.clone(), span), value: new },
                Assignment { target: result.clone(), value: indicator(is_found) },
            ],
        )];
        if called.function.ends_with("_weak") {
            let fails = Assignment { target: result.clone(), value: Expression::Constant(0) };
            ways.push((marked(called.failure.marks()), vec![read, fails]));
        }
        if let Place::Local(variable) = &place {
            // If it is what was expected, it is there already.
            let back = Assignment { target: variable.clone(), value: old() };
            ways.iter_mut().for_each(|(_, assignments)| assignments.push(back.clone()));
        }
        self.either(ways, span);
        if let Place::Shared(location) = place {
            self.index(&location);
            let has_failed = is_equal(Expression::Read(result.clone()), Expression::Constant(0), span);
            let back = Assignment { target: only_if(&location, has_failed, span), value: old() };
            self.emit(InstructionKind::Plain, vec![back], span);
        }
        Ok(Some(Expression::Read(result)))
    }
}
