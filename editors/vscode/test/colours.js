// Colours example.slco by the grammar, as the editor does, and compares with example.json: each text there is looked
// up from where the last one was found, and its first character has that scope (null: none but the language's).

const fs = require("fs");
const path = require("path");
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const here = (...names) => path.join(__dirname, ...names);
const read = (...names) => fs.readFileSync(here(...names), "utf8");

async function main() {
  const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(read("..", "syntaxes", "slco.tmLanguage.json"), "slco.json"),
  });
  const grammar = await registry.loadGrammar("source.slco");
  const text = read("example.slco");
  const scopes = [];
  let stack = textmate.INITIAL;
  for (const line of text.split("\n")) {
    const coloured = grammar.tokenizeLine(line, stack);
    stack = coloured.ruleStack;
    const ofLine = new Array(line.length + 1).fill(null);
    for (const token of coloured.tokens) {
      const scope = token.scopes.length > 1 ? token.scopes[token.scopes.length - 1] : null;
      ofLine.fill(scope, token.startIndex, Math.min(token.endIndex, line.length + 1));
    }
    scopes.push(...ofLine);
  }
  let at = 0;
  let wrong = 0;
  const expected = JSON.parse(read("example.json"));
  for (const [word, scope] of expected) {
    at = text.indexOf(word, at);
    if (at < 0 || scopes[at] !== scope) {
      wrong += 1;
      console.log(`${word}: expected ${scope}, found ${at < 0 ? "nowhere" : scopes[at]}`);
      at = Math.max(at, 0);
    }
  }
  console.log(`${expected.length - wrong} of ${expected.length} as expected`);
  process.exitCode = wrong === 0 ? 0 : 1;
}

main();
