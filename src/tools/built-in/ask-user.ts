/**
 * Asks a person. The call waits, for as long as it takes and without a slot, until somebody answers; the answer is its
 * result. What holds no question is refused here, with the words that any tool has for arguments that do not match.
 */
import { ASK_USER } from '../../core/question.ts';
import { fromJsonSchema } from '../input.ts';
import type { Tool } from '../tool.ts';

const DESCRIPTION =
  'Asks the user a question and waits for the answer, which may take a while. Ask only what you cannot find out yourself.';

const SCHEMA = {
  type: 'object',
  properties: {
    question: { type: 'string', minLength: 1, description: 'What you want to know, in full sentences.' },
    choices: {
      type: 'array',
      items: { type: 'string' },
      description: 'Answers to choose from. The user may still answer otherwise.',
    },
  },
  required: ['question'],
};

export function askUser(): Tool {
  const input = fromJsonSchema(SCHEMA);
  if (!input.ok) throw new Error(input.problem);
  return {
    descriptor: {
      name: ASK_USER,
      description: DESCRIPTION,
      input_schema: input.schema,
      effect: 'none',
      on_unknown: 'tell',
      answered_by: 'person',
    },
    approval: 'never',
    timeoutMs: null,
    validate: input.validate,
    execute: () => ({ content: 'A question is answered by a person, and not run.', is_error: true }),
  };
}
