/** Branches on the wire. */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Count, Instant, Page, Usage, Uuid, listOf, nullable, oneOf, ref, strict } from './common.ts';
import { Accepted, BranchName, PostMessage, ofJob } from './message.ts';

/** The name of a branch that is to be. */
const Name = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$',
  description: 'Letters, digits, dots, dashes and underscores; begins with a letter or a digit.',
  examples: ['main-2'],
});

export const Branch = strict(
  {
    name: Type.String(),
    active: Type.Boolean({ description: 'Inputs that name no branch go to it.' }),
    parent: nullable(Type.String({ description: 'Which it left; it may be gone by now.' })),
    fork_message_id: nullable(
      Type.String({
        format: 'uuid',
        description: 'The last message that it shares; null where it shares none.',
      }),
    ),
    fork_seq: nullable(Count),
    length: nullable(
      Type.Integer({
        minimum: 0,
        description:
          'Messages that it shows, those that it shares included. Null in the answer to what makes it or switches to it: lists count.',
      }),
    ),
    message_count: Type.Integer({
      minimum: 0,
      description: 'Messages of its own that it shows, by the jobs that ended on it.',
    }),
    request_count: Type.Integer({
      minimum: 0,
      description: 'Model calls that were answered on it, likewise.',
    }),
    usage: ref(Usage),
    created_at: Instant,
  },
  { $id: 'Branch' },
);
export type Branch = Static<typeof Branch>;

export const BranchList = listOf('BranchList', Branch);

export const BranchQuery = strict(Page);

export const CreateBranch = strict(
  {
    name: Name,
    from_branch: Type.Optional(BranchName),
    from_message_id: Type.Optional(
      Type.String({
        format: 'uuid',
        description:
          'The last message that is shared, with the results of its tool calls. Else all that is complete: what an unfinished job added is not.',
      }),
    ),
    activate: Type.Optional(Type.Boolean({ default: false })),
  },
  { $id: 'CreateBranch' },
);

const { branch: _, ...options } = ofJob;
const regeneration = {
  name: Type.Optional(Name),
  delivery: Type.Optional(
    oneOf(['queue', 'interrupt', 'reject'], 'What becomes of a job that is unfinished, as with a message.'),
  ),
  ...options,
};

export const EditMessage = strict(
  { content: PostMessage.properties.content, ...regeneration },
  { $id: 'EditMessage' },
);

export const Regenerate = strict(regeneration, { $id: 'Regenerate' });

export const AcceptedOnBranch = strict(
  { ...Accepted.properties, branch: Type.String({ description: 'Made for it, and the active one now.' }) },
  { $id: 'AcceptedOnBranch' },
);
export type AcceptedOnBranch = Static<typeof AcceptedOnBranch>;

export const Sibling = strict(
  {
    branch: Type.String({ description: 'One that shows it: the active one, where that does.' }),
    message_id: Type.String({
      format: 'uuid',
      description: 'The first message of the turn that stands there.',
    }),
    turn: Type.String({ pattern: '^[ua][1-9][0-9]*$' }),
    created_at: Instant,
    active: Type.Boolean({ description: 'Whether the active branch shows it.' }),
  },
  { $id: 'Sibling' },
);

export const SiblingList = strict({ data: Type.Array(ref(Sibling)) }, { $id: 'SiblingList' });
export type SiblingList = Static<typeof SiblingList>;

export const BranchParams = strict({ id: Uuid, name: BranchName });
