/** Branches in the API. */
import { Type, type Static } from 'typebox';
import { Count, Instant, TurnName, Usage, Uuid, described, listOf } from '../common.ts';
import { nullable, oneOf, ref, strict } from '../../../schema/build.ts';
import { NEW_BRANCH } from '../../../schema/patterns.ts';
import { Accepted, BranchName, PostMessage, ofJob } from '../messages/message.ts';

/** The name of a new branch. */
const Name = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: NEW_BRANCH,
  description: 'Letters, digits, dots, dashes and underscores; starts with a letter or a digit.',
  examples: ['main-2'],
});

export const Branch = strict(
  {
    name: Type.String(),
    active: Type.Boolean({ description: 'The active branch takes inputs that name no branch.' }),
    parent: nullable(Type.String({ description: 'The branch it forked from; may be deleted by now.' })),
    fork_message_id: nullable(described(Uuid, 'The last shared message. Null: no shared messages.')),
    fork_seq: nullable(Count),
    length: nullable(
      described(
        Count,
        'Number of visible messages, including shared ones. Only lists count them: null in responses that create a branch or switch to it.',
      ),
    ),
    message_count: described(Count, 'Number of its own visible messages, updated when a job ends on it.'),
    request_count: described(Count, 'Number of answered model calls on it, updated when a job ends.'),
    usage: ref(Usage),
    created_at: Instant,
  },
  { $id: 'Branch' },
);
export type Branch = Static<typeof Branch>;

export const BranchList = listOf('BranchList', Branch);

export const CreateBranch = strict(
  {
    name: Name,
    from_branch: Type.Optional(BranchName),
    from_message_id: Type.Optional(
      described(
        Uuid,
        'The last shared message; results of its tool calls are shared too. Without it all complete messages are shared, but none of an unfinished job.',
      ),
    ),
    activate: Type.Optional(Type.Boolean({ default: false })),
  },
  { $id: 'CreateBranch' },
);

const { branch: _, ...options } = ofJob;
const regeneration = {
  name: Type.Optional(Name),
  delivery: Type.Optional(
    oneOf(['queue', 'interrupt', 'reject'], 'What to do with an unfinished job, as in PostMessage.'),
  ),
  ...options,
};

export const EditMessage = strict({ content: PostMessage.properties.content, ...regeneration }, { $id: 'EditMessage' });

export const Regenerate = strict(regeneration, { $id: 'Regenerate' });

export const AcceptedOnBranch = strict(
  { ...Accepted.properties, branch: Type.String({ description: 'The new branch, which is now active.' }) },
  { $id: 'AcceptedOnBranch' },
);
export type AcceptedOnBranch = Static<typeof AcceptedOnBranch>;

export const Sibling = strict(
  {
    branch: Type.String({ description: 'A branch with this message; the active one if it has it.' }),
    message_id: described(Uuid, 'The first message of the turn at this place.'),
    turn: TurnName,
    created_at: Instant,
    active: Type.Boolean({ description: 'Whether the active branch has this message.' }),
  },
  { $id: 'Sibling' },
);

export const SiblingList = strict({ data: Type.Array(ref(Sibling)) }, { $id: 'SiblingList' });
export type SiblingList = Static<typeof SiblingList>;

export const BranchParams = strict({ id: Uuid, name: BranchName });
