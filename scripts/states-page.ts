// Generates docs/states.md from the table in src/core/run/state.ts: `node scripts/states-page.ts`.
import { writeFileSync } from 'node:fs';
import { FLEETING, STATES, TRANSITIONS, type State } from '../src/core/run/state.ts';

export const STATES_PAGE = new URL('../docs/states.md', import.meta.url);

const MEANING: Readonly<Record<State, string>> = {
  Idle: 'Nothing runs and nothing is due.',
  ProcessingUserMessage: 'An input was accepted, and its job is about to begin.',
  AwaitingLLMResponse: 'The model was called, or is about to be called.',
  StreamingLLMResponse: 'The answer is streaming.',
  ProcessingLLMResponse: 'The answer is complete and is being stored.',
  AwaitingToolApproval: 'A tool call waits for approval.',
  AwaitingInput: 'A question or a client-side tool waits for an answer from outside.',
  AwaitingWorkers: 'The worker waits for workers that it created.',
  ExecutingTools: 'Tool calls run.',
  TransientFailure: 'A model call failed and will be repeated.',
  PermanentFailure: 'The last job failed. The next input works again.',
  Stopped: 'The worker was stopped: no job begins until it is started.',
};

/** The text of `docs/states.md`. */
export function statesPage(): string {
  const arrows = STATES.flatMap((from) => followers(from).map((to) => `    ${from} --> ${to}`));
  const rows = STATES.map(
    (state) => `| ${code(state)} | ${kindOf(state)} | ${MEANING[state]} | ${followers(state).map(code).join(', ')} |`,
  );
  return `# States of a context

The states of a context that users see, and which state may follow which. \`node scripts/states-page.ts\` generates this page
from the table in \`src/core/run/state.ts\`; a test compares them.

A *durable* state is stored, and every change to it is a numbered \`StateChanged\` event. A *fleeting* one is published
without a number and never stored. A context may always stay in its state. A transition that is not listed is a bug.

| state | kind | meaning | next states |
|---|---|---|---|
${rows.join('\n')}

\`\`\`mermaid
stateDiagram-v2
    [*] --> Idle
${arrows.join('\n')}
\`\`\`
`;
}

function kindOf(state: State): string {
  return (FLEETING as readonly State[]).includes(state) ? 'fleeting' : 'durable';
}

/** Without the state itself: staying is always allowed. */
function followers(state: State): State[] {
  return TRANSITIONS[state].filter((next) => next !== state);
}

function code(state: State): string {
  return `\`${state}\``;
}

if (import.meta.main) writeFileSync(STATES_PAGE, statesPage());
