/**
 * What a server is told that asks a person in the middle of a call. In a job there is nobody to ask: the answer is no, or,
 * where the operator says so, what the question itself gives as defaults.
 */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { ClientCapabilities, ElicitRequest, ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import type { Elicitation } from './server-settings.ts';

/** All that is declared. */
export function capabilitiesOf(elicitation: Elicitation): ClientCapabilities {
  return { elicitation: { form: elicitation === 'defaults' ? { applyDefaults: true } : {} } };
}

export function answerQuestions(client: Client, elicitation: Elicitation): void {
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answerTo(elicitation, params));
}

/** The client itself fills in the defaults of what is accepted. */
function answerTo(elicitation: Elicitation, params: ElicitRequest['params']): ElicitResult {
  const isAnswerable =
    elicitation === 'defaults' && params.mode !== 'url' && hasDefaults(params.requestedSchema);
  return isAnswerable ? { action: 'accept', content: {} } : { action: 'decline' };
}

type Form = { properties: Record<string, object>; required?: string[] | undefined };

function hasDefaults({ properties, required = [] }: Form): boolean {
  return required.every((name) => 'default' in (properties[name] ?? {}));
}
