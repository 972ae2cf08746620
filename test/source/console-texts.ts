// Finds the texts that people read in a source of the console: text between tags, what is shown of an element's
// attributes and children, and other strings and templates that read like text.
import { parseAst } from 'rolldown/parseAst';
import { Visitor, type ESTree } from 'rolldown/utils';

export type FoundText = { line: number; text: string };

/** Attributes of elements and properties of objects whose value people read, or hear from a screen reader. */
const READ: ReadonlySet<string> = new Set([
  'about',
  'alt',
  'any',
  'aria-label',
  'aria-valuetext',
  'caption',
  'confirm',
  'description',
  'empty',
  'head',
  'hint',
  'label',
  'legend',
  'message',
  'notice',
  'placeholder',
  'submit',
  'text',
  'title',
  'unit',
]);

/** Attributes of elements whose value is never read, though it may have several words. */
const NEVER_READ: ReadonlySet<string> = new Set([
  'aria-keyshortcuts',
  'className',
  'd',
  'rel',
  'sizes',
  'style',
  'viewBox',
]);

const HAS_WORD = /\p{L}{2}|(?<!\p{L})[AaI](?!\p{L})/u;
/** Two words, or one word that begins a sentence or a label. */
const READS_LIKE_TEXT = /\p{L}[,.:;…]?\s+(?:…|\d)|[\p{L}\d][,.:;…]?\s+\p{L}|^\p{Lu}\p{Ll}+[.:…]?$/u;
/** A word beside a gap of a template: `${jobs} jobs`, not `limits.${name}` or `/api/${path}`. */
const WORD_BESIDE_GAP = /\s\p{L}+(?:\s|[,.:;?!…]|$)|(?:^|\s)\p{L}+[,.:;?!…]?\s/u;

/** Elements whose text is a name for programs, or a key. */
const NAMES: ReadonlySet<string> = new Set(['code', 'kbd']);
const ERRORS: ReadonlySet<string> = new Set(['Error', 'TypeError']);
/** Functions whose arguments are selectors or queries of CSS. */
const SELECTS: ReadonlySet<string> = new Set(['closest', 'matches', 'matchMedia', 'querySelector', 'querySelectorAll']);

/**
 * What surrounds a string: it is `shown` if it has a word; it is `code` and shown if it reads like text; it is `never`
 * shown. In an `element`, what is in braces is shown.
 */
type Place = 'shown' | 'code' | 'never' | 'element';

/** In the order of the source. `${…}` in a template is `{}` in its text. */
export function findTexts(source: string): FoundText[] {
  const found: FoundText[] = [];
  const places: Place[] = [];
  const compared = new Set<ESTree.Node>();
  const place = (): Place => places.at(-1) ?? 'code';
  const enter = (next: Place): void => void places.push(place() === 'never' ? 'never' : next);
  const leave = (): void => void places.pop();
  const add = (at: number, text: string): void => {
    found.push({ line: source.slice(0, at).split('\n').length, text: text.replaceAll(/\s+/g, ' ').trim() });
  };
  const addIf = (isText: RegExp, node: ESTree.Node, parts: readonly string[]): void => {
    if (place() === 'never' || compared.has(node)) return;
    if (parts.some((part) => (place() === 'shown' ? HAS_WORD : isText).test(part))) add(node.start, parts.join('{}'));
  };
  new Visitor({
    JSXText: ({ start, value }) => {
      if (place() === 'element' && HAS_WORD.test(value)) add(start + value.length - value.trimStart().length, value);
    },
    JSXElement: ({ openingElement: { name } }) => enter(isIn(NAMES, name) ? 'never' : 'element'),
    'JSXElement:exit': leave,
    JSXFragment: () => enter('element'),
    'JSXFragment:exit': leave,
    JSXAttribute: ({ name }) => enter(placeOf(name.name)),
    'JSXAttribute:exit': leave,
    JSXExpressionContainer: () => enter(place() === 'element' ? 'shown' : place()),
    'JSXExpressionContainer:exit': leave,
    Property: ({ key, computed }) => enter(!computed && key.type === 'Identifier' ? placeOf(key.name) : 'code'),
    'Property:exit': leave,
    CallExpression: ({ callee }) =>
      enter(callee.type === 'MemberExpression' && isIn(SELECTS, callee.property) ? 'never' : 'code'),
    'CallExpression:exit': leave,
    // A fault of the console itself: it is for its developers.
    NewExpression: ({ callee }) => enter(isIn(ERRORS, callee) ? 'never' : 'code'),
    'NewExpression:exit': leave,
    MemberExpression: () => enter('code'),
    'MemberExpression:exit': leave,
    BlockStatement: () => enter('code'),
    'BlockStatement:exit': leave,
    BinaryExpression: ({ operator, left, right }) => {
      if (operator !== '+') compared.add(left).add(right);
    },
    SwitchCase: ({ test }) => {
      if (test !== null) compared.add(test);
    },
    TSLiteralType: () => enter('never'),
    'TSLiteralType:exit': leave,
    ImportDeclaration: () => enter('never'),
    'ImportDeclaration:exit': leave,
    Literal: (node) => {
      if (typeof node.value === 'string') addIf(READS_LIKE_TEXT, node, [node.value]);
    },
    TemplateLiteral: (node) => {
      const parts = node.quasis.map(({ value }) => value.cooked ?? '');
      addIf(parts.length === 1 ? READS_LIKE_TEXT : WORD_BESIDE_GAP, node, parts);
    },
  }).visit(parseAst(source, { lang: 'tsx' }));
  return found;
}

function isIn(names: ReadonlySet<string>, node: ESTree.Node): boolean {
  return 'name' in node && typeof node.name === 'string' && names.has(node.name);
}

function placeOf(name: unknown): Place {
  if (typeof name !== 'string') return 'code';
  if (NEVER_READ.has(name)) return 'never';
  return READ.has(name) ? 'shown' : 'code';
}
