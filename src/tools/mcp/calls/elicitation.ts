/**
 * Answers a server that asks a person during a call. A job has no person to ask, so the answer is to decline or, if the
 * operator configured it, the default values of the question.
 */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  ElicitRequestSchema,
  type ClientCapabilities,
  type ElicitRequest,
  type ElicitResult,
} from '@modelcontextprotocol/sdk/types.js';
import type { Elicitation } from '../settings/server-settings.ts';

/** The declared capabilities. */
export function capabilitiesOf(elicitation: Elicitation): ClientCapabilities {
  return { elicitation: { form: elicitation === 'defaults' ? { applyDefaults: true } : {} } };
}

export function answerQuestions(client: Client, elicitation: Elicitation): void {
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answerTo(elicitation, params));
}

/** When a question is accepted, the client fills in its defaults. */
function answerTo(elicitation: Elicitation, params: ElicitRequest['params']): ElicitResult {
  const isAnswerable = elicitation === 'defaults' && params.mode !== 'url' && hasDefaults(params.requestedSchema);
  return isAnswerable ? { action: 'accept', content: {} } : { action: 'decline' };
}

type Form = { properties: Record<string, object>; required?: string[] | undefined };

function hasDefaults({ properties, required = [] }: Form): boolean {
  return required.every((name) => 'default' in (properties[name] ?? {}));
}
