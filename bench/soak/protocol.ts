/** What the users of a soak can be asked. */

export type Crowd = {
  url: string;
  /** What a context is created with. */
  newContext: object;
  /** How many contexts there are at a time. */
  contexts: number;
  /** Inputs a second, sent whether or not earlier ones were answered. */
  rate: number;
  /** Stream clients that come and go. */
  followers: number;
};

/** What happened since one last asked. Times in milliseconds. */
export type Account = {
  /** From the POST of an input to its 202. */
  posts: number[];
  /** From the POST of a plain input to the answer of a long poll that its job ended. */
  finishes: number[];
  /** From a cancel to its receipt. */
  cancels: number[];
  /** What was done, and how jobs ended, by name. */
  done: Record<string, number>;
  /** What nobody expected, the first few of them. */
  trouble: string[];
  /** Contexts that were made and not deleted, now. */
  contexts: number;
  /** Idempotency keys that were sent so far. */
  keys: number;
  /** Streams that are open now. */
  streams: number;
};

export type UsersProtocol = {
  /** Once all contexts are there: from then on inputs are sent. */
  begin: { asks: Crowd; answers: void };
  account: { asks: null; answers: Account };
  /** No more inputs and streams; once what was sent has ended, all contexts are deleted. */
  leave: { asks: null; answers: Account };
};
