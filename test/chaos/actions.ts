// What clients do, kind by kind, and how often. A kind that the platform does not offer yet has its switch off: a line
// turns it on, and its checks have been waiting for it.

export type Action =
  /** `delivery: reject`. */
  | 'reject'
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
  /** Follow the events of a context. */
  | 'stream';

export type Switches = Readonly<Record<Action, boolean>>;

export const SWITCHES: Switches = {
  reject: true,
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
  stream: true,
};
