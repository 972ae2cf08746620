/** Texts about decisions on tool calls: approvals, answers, results and outcomes. */

const approved = 'Approved';
const denied = 'Denied';

export const answerWords = {
  undo: 'Undo',
  undoByKey: 'Undo (u)',
  arguments: 'Arguments',
  sentToModel: 'Sent to the model',
  /** A call that sleeps. */
  continues: 'Continues {when}',
  expires: 'Expires {when}',
  /** Of an approval: then the timeout decides. */
  timesOut: 'Times out {when}',
  /** Of a call that the decision on another one decided, too. */
  decidedTogether: 'Decided together with another call',
  notWaiting: 'This call no longer waits: it was already decided, or its job has ended.',

  approval: {
    form: (tool: string) => `Approval of ${tool}`,
    approve: 'Approve',
    approveEdited: 'Approve with edits',
    deny: 'Deny',
    denyWithReason: 'Deny …',
    edit: 'Edit arguments',
    back: 'Back',
    editedArguments: 'Edited arguments',
    editedFault: 'Enter a JSON object.',
    reason: 'Reason',
    rememberApproval: (tool: string) => `Approve ${tool} for 30 days in this context`,
    rememberDenial: (tool: string) => `Deny ${tool} from now on in this context`,
    /** What a key does. */
    keys: { approve: 'approve', deny: 'deny', edit: 'edit' },
    failed: 'Could not send the decision',
    /** What was decided. */
    approved,
    approvedEdited: 'Approved with edited arguments',
    denied,
    deniedBecause: (reason: string) => `${denied}: ${reason}`,
    remembered: (decision: string) => `${decision} (remembered)`,
  },
  answer: {
    form: 'Answer',
    label: 'Your answer',
    placeholder: 'Your answer',
    otherAnswer: 'Another answer',
    choices: 'Choices',
    submit: 'Answer',
    failed: 'Could not send the answer',
    given: (answer: string) => `Answer: ${answer}`,
  },
  result: {
    form: (tool: string) => `Result of ${tool}`,
    label: 'Tool result',
    isError: 'The tool failed',
    submit: 'Submit result',
    failed: 'Could not send the result',
    given: (result: string) => `Result: ${result}`,
    givenError: (result: string) => `Error result: ${result}`,
  },
  outcome: {
    form: (tool: string) => `Outcome of ${tool}`,
    about:
      'The worker process was lost while this call was running. Check whether the call took effect, then choose the outcome.',
    result: 'Result, if it happened',
    happened: 'It happened',
    didNotHappen: 'It did not happen: run again',
    unknown: 'Report as unknown',
    failed: 'Could not send the outcome',
    /** What was decided. */
    isHappened: 'Marked as happened',
    isRunAgain: 'Did not happen: running it again',
    isUnknown: 'Reported to the model as unknown',
  },
} as const;
