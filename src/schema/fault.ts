/** A fault of a request or of the config file: where it is, and a sentence for a person. */
export type Path = readonly (string | number)[];

export type Fault = { path: Path; message: string };

/** Faults that are reported at once. */
export const MOST_FAULTS = 20;

/** At most `MOST_FAULTS`; `more`: how many were left out. */
export type Faults = { faults: Fault[]; more: number };

const LONGEST_PATH = 200;

/** `problem`: what is wrong with the value, without subject and full stop. */
export function faultAt(path: Path, problem: string): Fault {
  return { path, message: `${placeText(path)}: ${problem}.` };
}

/** `tools[2].effect`, `prices["openai/gpt-5"]`: as JavaScript writes it. */
export function placeText(path: Path): string {
  const text = path.map(step).join('').replace(/^\./, '');
  return text.length > LONGEST_PATH ? `${text.slice(0, LONGEST_PATH)}…` : text;
}

function step(part: string | number): string {
  if (typeof part === 'number') return `[${part}]`;
  return /^[\w-]+$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`;
}

/** `config.tools.0`: for programs. */
export function dottedPath(path: Path): string {
  const text = path.join('.').replaceAll(/[\0\p{Cs}]/gu, '\u{FFFD}');
  return text.length > LONGEST_PATH ? `${text.slice(0, LONGEST_PATH)}…` : text;
}

export function isWithin(path: Path, outer: Path): boolean {
  return outer.every((part, at) => part === path[at]);
}
