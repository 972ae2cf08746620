/** What the load can be asked: requests, sent so many at once or one after the other with a gap. */
export type Request = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  body: object | null;
  /** Sent as `Idempotency-Key`. */
  key?: string;
};

export type Answer = {
  status: number;
  body: unknown;
  /** When it was sent, of the monotonic clock, and how long its answer took, in milliseconds. */
  sentAt: number;
  ms: number;
};

export type Volley = { url: string; requests: Request[]; atOnce: number; gapMs: number };

/** Event streams to open, and the names of the events that count. */
export type Listening = { url: string; paths: string[]; events: string[] };

/** `stream` is the place among the paths, `text` what the event came with. */
export type Delivery = { stream: number; at: number; text: string };

export type LoadProtocol = {
  /** Answers in the order of the requests. */
  send: { asks: Volley; answers: Answer[] };
  /** How many were opened: all of them. They stay open until the process ends. */
  listen: { asks: Listening; answers: number };
  /** Since one last asked. */
  heard: { asks: null; answers: Delivery[] };
};
