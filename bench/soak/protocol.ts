/** The requests to the process of the soak users. */

export type Crowd = {
  url: string;
  /** The body that creates a context. */
  newContext: object;
  /** The number of contexts at a time. */
  contexts: number;
  /** Inputs per second, independent of earlier responses. */
  rate: number;
  /** The number of stream clients. */
  followers: number;
};

/** What happened since the last request. Times in milliseconds. */
export type Account = {
  /** From the POST of an input to its 202. */
  posts: number[];
  /** From the POST of a plain input to the response of the long poll that reports the end of its job. */
  finishes: number[];
  /** From a cancel to its receipt. */
  cancels: number[];
  /** Counts of actions and of job results, by name. */
  done: Record<string, number>;
  /** Unexpected events, only the first few. */
  trouble: string[];
  /** Contexts that exist now. */
  contexts: number;
  /** Idempotency keys sent so far. */
  keys: number;
  /** Streams open now. */
  streams: number;
};

export type UsersProtocol = {
  /** Resolves when all contexts exist; from then on inputs are sent. */
  begin: { asks: Crowd; answers: void };
  account: { asks: null; answers: Account };
  /** Stops inputs and streams, waits for all jobs, then deletes all contexts. */
  leave: { asks: null; answers: Account };
};
