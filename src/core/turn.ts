/**
 * Turns: what one side says. Inputs are `u1`, `u2` …; `a1` spans every model call and tool result that answers `u1`.
 * An input that never got its answer leaves a gap on the assistant's side, never on the user's.
 */
export type Turn = `u${number}` | `a${number}`;

export function inputTurn(number: number): Turn {
  return `u${number}`;
}

export function answerTurn(number: number): Turn {
  return `a${number}`;
}

/** `null` for what is no turn. */
export function parseTurn(text: string): { side: 'u' | 'a'; number: number } | null {
  const match = /^([ua])([1-9]\d{0,8})$/.exec(text);
  if (match === null) return null;
  return { side: match[1] === 'u' ? 'u' : 'a', number: Number(match[2]) };
}

/** The highest number among the turns of visible messages; 0 where there is none. */
export function lastTurn(turns: Iterable<Turn>): number {
  let highest = 0;
  for (const turn of turns) highest = Math.max(highest, Number(turn.slice(1)));
  return highest;
}
