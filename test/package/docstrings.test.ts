// What an editor shows of the package: each exported name, each member of its types, and each call of the client has a
// comment in the declarations. Not the members of the types of the API (client/schema.d.ts): these have a comment where the
// OpenAPI document describes them.
import path from 'node:path';
import ts from 'typescript-5.9';
import { beforeAll, expect, inject, test } from 'vitest';

const ENTRIES = ['index.d.ts', 'client/index.d.ts', 'testing/index.d.ts'];
const GENERATED = 'client/schema.d.ts';

let declarations = '';
let program: ts.Program;
let checker: ts.TypeChecker;

beforeAll(() => {
  declarations = path.join(inject('installed'), 'node_modules/nightshift/dist/types');
  program = ts.createProgram(
    ENTRIES.map((file) => path.join(declarations, file)),
    { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.NodeNext, strict: true, noEmit: true, types: [] },
  );
  checker = program.getTypeChecker();
});

const fileOf = (node: ts.Node): string => path.relative(declarations, node.getSourceFile().fileName);
const isOurs = (node: ts.Node): boolean => !fileOf(node).startsWith('..');
const isBare = (symbol: ts.Symbol): boolean => symbol.getDocumentationComment(checker).length === 0;

/** Of one entry: each symbol under the name with which it is exported. */
function exportsOf(entry: string): Map<string, ts.Symbol> {
  const source = program.getSourceFile(path.join(declarations, entry));
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${entry} is not in the package.`);
  const symbols = checker.getExportsOfModule(module);
  const isAlias = ({ flags }: ts.Symbol): boolean => (flags & ts.SymbolFlags.Alias) !== 0;
  return new Map(symbols.map((one) => [one.name, isAlias(one) ? checker.getAliasedSymbol(one) : one]));
}

const isMember = (node: ts.Node): node is ts.TypeElement | ts.ClassElement =>
  ts.isPropertySignature(node) ||
  ts.isMethodSignature(node) ||
  ts.isPropertyDeclaration(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isGetAccessorDeclaration(node);

/** Members without a comment in what a declaration says, however deep. */
function bareMembers(node: ts.Node, place: string): string[] {
  const found: string[] = [];
  ts.forEachChild(node, (child) => {
    if (!isMember(child)) return void found.push(...bareMembers(child, place));
    if (child.name === undefined || ts.isPrivateIdentifier(child.name)) return;
    const at = `${place}.${child.name.getText()}`;
    const symbol = checker.getSymbolAtLocation(child.name);
    if (symbol !== undefined && isBare(symbol)) found.push(at);
    found.push(...bareMembers(child, at));
  });
  return found;
}

/** Calls, and groups of calls, without a comment. */
function bareCalls(type: ts.Type, place: string): string[] {
  return type.getProperties().flatMap((symbol) => {
    const at = `${place}.${symbol.name}`;
    const inside = checker.getTypeOfSymbol(symbol);
    const isGroup = inside.getCallSignatures().length === 0;
    return [...(isBare(symbol) ? [at] : []), ...(isGroup ? bareCalls(inside, at) : [])];
  });
}

test.each(ENTRIES)('every exported name of %s has a comment', (entry) => {
  const exported = [...exportsOf(entry)].filter(([, symbol]) => symbol.declarations?.some(isOurs));
  expect(exported.length).toBeGreaterThan(20);
  expect(exported.filter(([, symbol]) => isBare(symbol)).map(([name]) => name)).toEqual([]);
});

test.each(ENTRIES)('every member of a type of %s has a comment', (entry) => {
  const bare = [...exportsOf(entry)].flatMap(([name, { declarations: all = [] }]) =>
    all.filter((one) => isOurs(one) && fileOf(one) !== GENERATED).flatMap((one) => bareMembers(one, name)),
  );
  expect(bare).toEqual([]);
});

test('every call of the client has a comment', () => {
  const client = exportsOf('client/index.d.ts').get('Client');
  if (client === undefined) throw new Error('There is no type Client.');
  const type = checker.getDeclaredTypeOfSymbol(client);
  const groups = type.getProperties().map(({ name }) => name);
  expect(groups).toEqual(expect.arrayContaining(['workers', 'contexts', 'jobs', 'search']));
  expect(bareCalls(type, 'client')).toEqual([]);
});
