/** The single tool of all runs, the same for both systems: no effect, returns at once. */
export const LOOK = {
  name: 'look',
  description: 'Looks at a place and says what is there.',
  parameters: {
    type: 'object',
    properties: { place: { type: 'string' } },
    required: ['place'],
    additionalProperties: false,
  },
};

export const SYSTEM_PROMPT = 'You look at one room after the other and then say what you saw.';

export function look(input: unknown): string {
  const place = typeof input === 'object' && input !== null && 'place' in input ? String(input.place) : '?';
  return `Nothing unusual in ${place}: a table, two chairs, and a lamp that was left on.`;
}
