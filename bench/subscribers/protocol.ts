/** The requests to the process of the stream clients. */

export type Crowd = {
  url: string;
  contexts: string[];
  /** Clients of each context. */
  each: number;
};

/** The expected result of each context after its run: the text of its answer, and the number of the last entry. */
export type Stored = Record<string, { text: string; head: number }>;

export type Comparison = {
  /** Clients whose received text equals the stored text, with every delta once and in order. */
  whole: number;
  /** Clients that received every numbered entry once and in order. */
  gapless: number;
  /** Lost connections. The client reconnects with its cursor each time. */
  dropped: number;
};

export type SubscribersProtocol = {
  /** Opens all streams and returns their number. They stay open until the process ends. */
  listen: { asks: Crowd; answers: number };
  /** The number of chunks received so far. */
  pieces: { asks: null; answers: number };
  approval: { asks: Stored; answers: Comparison };
  /** Milliseconds from the model to the client, for a sample of the events of each client. */
  delays: { asks: null; answers: number[] };
};
