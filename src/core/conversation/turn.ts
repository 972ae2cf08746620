/**
 * Turns: one side's part of the conversation. Inputs are `u1`, `u2` …; `a1` covers every model call and tool result
 * that answers `u1`. An input without an answer leaves a gap on the assistant's side, never on the user's.
 */
export type Turn = `u${number}` | `a${number}`;

export function inputTurn(number: number): Turn {
  return `u${number}`;
}

export function answerTurn(number: number): Turn {
  return `a${number}`;
}

/** `null` if the text is not a turn. */
export function parseTurn(text: string): { side: 'u' | 'a'; number: number } | null {
  const match = /^([ua])([1-9]\d{0,8})$/.exec(text);
  if (match === null) return null;
  return { side: match[1] === 'u' ? 'u' : 'a', number: Number(match[2]) };
}

/** The highest number among the turns of visible messages; 0 if there are none. */
export function lastTurn(turns: Iterable<Turn>): number {
  let highest = 0;
  for (const turn of turns) highest = Math.max(highest, Number(turn.slice(1)));
  return highest;
}
