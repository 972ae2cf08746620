/** What the clients of many streams can be asked. */

export type Crowd = {
  url: string;
  contexts: string[];
  /** Clients of each context. */
  each: number;
};

/** What stands of each context once its run has ended: the text of its one answer, and the number of the last entry. */
export type Stored = Record<string, { text: string; head: number }>;

export type Verdict = {
  /** At how many clients what they were told adds up to the stored text, every delta once and in its order. */
  whole: number;
  /** How many were told every numbered entry, each once and in its order. */
  gapless: number;
  /** How often a connection was lost; each time the client came again by its cursor. */
  dropped: number;
};

export type AudienceProtocol = {
  /** How many were opened: all of them. They stay until the process ends. */
  listen: { asks: Crowd; answers: number };
  /** In how many pieces the connections brought what was told so far. */
  pieces: { asks: null; answers: number };
  approval: { asks: Stored; answers: Verdict };
  /** From the model's word to the client that hears it, in milliseconds, for one event in so many of each client. */
  delays: { asks: null; answers: number[] };
};
