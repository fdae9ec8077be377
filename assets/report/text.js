"use strict";
// Text on the screen. Names come from files of other people: they are put in as text only, characters that could deceive (controls, marks of
// writing direction) are shown as their numbers, and long ones are shortened, with all of it in the title.

const DECEIVING = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function visible(text) {
  return text.replace(DECEIVING, (c) => (c === "\t" ? c : `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`));
}

// The beginning and the end, at most `max` characters.
function shorten(text, max) {
  if (text.length <= max) return text;
  const characters = Array.from(text);
  if (characters.length <= max) return text;
  const end = Math.floor(max / 3);
  return `${characters.slice(0, max - end - 1).join("")}…${characters.slice(characters.length - end).join("")}`;
}

function shown(text, max) {
  return shorten(visible(text), max);
}

// An element. Children are elements or strings, and strings are text. Attributes that begin with "on" are listeners.
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// A name, apart from the text around it: its writing direction is its own affair.
function named(text, max = 40, className = "name") {
  const short = shown(text, max);
  return el("bdi", { class: className, title: short === text ? null : visible(text) }, short);
}

function replaceContent(id, ...children) {
  document.getElementById(id).replaceChildren(...children.flat().filter((child) => child !== null));
}

function oneOf(number, noun) {
  return number === 1 ? `the only ${noun}` : `one of ${count(number, noun)}`;
}

function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}
