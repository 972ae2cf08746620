// The kinds of client actions, and how often each is used. A kind that the platform does not offer yet is switched off:
// one line switches it on, and its checks exist already.

export type Action =
  /** `delivery: reject`. */
  | 'reject'
  /** Inputs without a key, at the same time to different contexts. */
  | 'no-key'
  /** A worker that is created with its first input. */
  | 'new-worker'
  /** The same request again after it was accepted. */
  | 'repeat'
  /** A long poll for the end of a job. */
  | 'wait'
  | 'cancel'
  | 'bulk-cancel'
  | 'steer'
  | 'deliver-interrupt'
  | 'interrupt'
  | 'edit'
  | 'withdraw'
  | 'reorder'
  | 'priority'
  /** Inputs that start a few seconds later. */
  | 'delay'
  /** Inputs that name a webhook. */
  | 'webhook'
  /** Stop a worker, and start it a while later. */
  | 'stop'
  /** Make a branch and post on it; delete one; switch to one. */
  | 'branch'
  | 'delete-branch'
  | 'switch'
  /** Edit a past input; retry an answer. */
  | 'edit-past'
  | 'regenerate'
  | 'clear'
  /** Replace the settings, by the version that was read. */
  | 'settings'
  | 'compact'
  /** Inputs whose model asks a person. */
  | 'question'
  /** Inputs whose model makes workers, and waits for them. */
  | 'spawn'
  /** Inputs whose tools need approval. */
  | 'approve'
  /** Follow the events of a context. */
  | 'stream';

export type Switches = Readonly<Record<Action, boolean>>;

export const SWITCHES: Switches = {
  reject: true,
  'no-key': true,
  'new-worker': true,
  repeat: true,
  wait: true,
  cancel: true,
  'bulk-cancel': true,
  steer: true,
  'deliver-interrupt': true,
  interrupt: true,
  edit: true,
  withdraw: true,
  reorder: true,
  priority: true,
  delay: true,
  webhook: true,
  stop: true,
  branch: true,
  'delete-branch': true,
  switch: true,
  'edit-past': true,
  regenerate: true,
  clear: true,
  settings: true,
  compact: true,
  question: true,
  spawn: true,
  approve: true,
  stream: true,
};
