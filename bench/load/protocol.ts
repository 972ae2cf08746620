/** The requests to the load generator: send requests with a given concurrency, or one after the other with a pause. */
export type Request = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  body: object | null;
  /** Sent as `Idempotency-Key`. */
  key?: string;
  /** Sent as the bearer of `Authorization`. */
  apiKey?: string;
};

export type Answer = {
  status: number;
  body: unknown;
  /** The time of sending, on the monotonic clock, and the time until the response, in milliseconds. */
  sentAt: number;
  ms: number;
};

export type Volley = { url: string; requests: Request[]; atOnce: number; gapMs: number };

/**
 * Runs with a new worker each, by `atOnce` clients. `config`: the body that creates a worker, without its name;
 * `marks`: one for each run; `end`: how the clients learn of it.
 */
export type Runs = {
  url: string;
  config: object;
  marks: string[];
  atOnce: number;
  gapMs: number;
  end: 'poll' | 'stream';
};

/** From the first request until the client knows of the end. */
export type RunTimes = { sentAt: number; ms: number };

/** Event streams to open, and the names of the events to record. */
export type Listening = { url: string; paths: string[]; events: string[] };

/** `stream`: the index of the path; `text`: the data of the event. */
export type Delivery = { stream: number; at: number; text: string };

export type LoadProtocol = {
  /** Responses in the order of the requests. */
  send: { asks: Volley; answers: Answer[] };
  /** In the order of the marks. */
  run: { asks: Runs; answers: RunTimes[] };
  /** Opens all streams and returns their number. They stay open until the process ends. */
  listen: { asks: Listening; answers: number };
  /** Since the last request. */
  takeDeliveries: { asks: null; answers: Delivery[] };
};
