/** Finds the one row whose id has a part that a person typed, among a bounded number of rows. */
import { CommandError, EXIT } from '../exit.ts';
import { first } from '../list.ts';
import { hasPart, isId, isPartOfId } from './ids.ts';

/** How many rows are read to find an id by a part of it. */
export const SEARCHED = 1_000;
/** Rows in a page of the API, at most. */
export const PAGE = 200;
/** Candidates that an error lists. */
const LISTED = 10;

/** One that the part may mean. `about` tells it from the others. */
export type Candidate = { id: string; about: string };

/** What is named in messages: `job`; where its parts are searched: `the newest 1,000 jobs`; the command with whole ids. */
type Named = { one: string; where: string; lists: string };

export type Kind<Row> = Named & {
  rows: () => AsyncIterable<Row>;
  idOf: (row: Row) => string;
  about: (row: Row) => string;
};

/** The whole id that `named` means. A whole id is not looked up. */
export async function pickId<Row>(named: string, kind: Kind<Row>): Promise<string> {
  return isId(named) ? named : kind.idOf(await pickRow(named, kind));
}

/** The row whose id begins or ends with `part`. Throws if there is none, or several, which it lists. */
export async function pickRow<Row>(part: string, kind: Kind<Row>): Promise<Row> {
  const { rows, idOf, about, one } = kind;
  if (!isPartOfId(part)) throw notAnId(part, one);
  const found = (await first(rows(), SEARCHED)).filter((row) => hasPart(idOf(row), part));
  const [only, ...others] = found;
  if (only === undefined) throw noneFound(part, kind);
  if (others.length === 0) return only;
  throw ambiguous(
    part,
    found.map((row) => ({ id: idOf(row), about: about(row) })),
  );
}

/** The rows whose id has the part, among the first ones. */
export async function rowsWith<Row extends { id: string }>(part: string, rows: () => AsyncIterable<Row>) {
  return (await first(rows(), SEARCHED)).filter(({ id }) => hasPart(id, part));
}

export function notAnId(text: string, one: string): CommandError {
  const what = 'Use a whole id, or at least six characters of its beginning or end.';
  return new CommandError(EXIT.failed, `${text} is no id of a ${one}. ${what}`);
}

export function noneFound(part: string, { one, where, lists }: Named): CommandError {
  const message = `No ${one} has an id that begins or ends with ${part}, among ${where}.`;
  return new CommandError(EXIT.failed, `${message} Use a whole id: ${lists} lists them.`);
}

export function ambiguous(part: string, found: readonly Candidate[]): CommandError {
  const lines = found.slice(0, LISTED).map(({ id, about }) => `  ${id}  ${about}`);
  const more = found.length > LISTED ? [`  … and ${found.length - LISTED} more`] : [];
  const title = `${found.length} ids begin or end with ${part}. Use more characters, or a whole id:`;
  return new CommandError(EXIT.failed, [title, ...lines, ...more].join('\n'));
}
