/**
 * Asks a person. The call waits without using a slot until a client posts the answer, which is the result of the call.
 * Input without a question is refused like the invalid arguments of any other tool.
 */
import { ASK_USER } from '../../core/conversation/question.ts';
import { validateByOwn } from '../registry/input.ts';
import type { Tool } from '../registry/tool.ts';

const DESCRIPTION =
  'Asks the user a question and waits for the answer, which may take a while. Ask only what you cannot find out yourself.';

const SCHEMA = {
  type: 'object',
  properties: {
    question: { type: 'string', minLength: 1, description: 'The question, in full sentences.' },
    choices: {
      type: 'array',
      items: { type: 'string' },
      description: 'Answers to choose from. The user may also give a different answer.',
    },
  },
  required: ['question'],
};

export function askUser(): Tool {
  return {
    descriptor: {
      name: ASK_USER,
      description: DESCRIPTION,
      input_schema: SCHEMA,
      effect: 'none',
      on_unknown: 'tell',
      answered_by: 'person',
    },
    timeoutMs: null,
    validate: validateByOwn(SCHEMA),
    execute: () => ({ content: 'ask_user is answered by a person and cannot be executed.', is_error: true }),
  };
}
