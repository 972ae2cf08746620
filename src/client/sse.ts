/** Server-Sent Events from bytes, parsed by `eventsource-parser`. */
import { createParser } from 'eventsource-parser';

export type Frame = {
  /** Null: not given. */
  id: string | null;
  event: string | null;
  data: string | null;
  /** Milliseconds; null: not given. */
  retry: number | null;
};

const EMPTY: Frame = { id: null, event: null, data: null, retry: null };

/** Of one event. No event of the API is longer. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

/**
 * Yields what each chunk of bytes completes, which may be nothing; drops an incomplete event at the end. The signal ends
 * the iteration. Throws if an event exceeds the limit.
 */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Frame[], void, undefined> {
  const reader = body.getReader();
  const leave = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  const decoder = new TextDecoder();
  const feed = openParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield feed(decoder.decode(value, { stream: true }));
    }
  } finally {
    signal.removeEventListener('abort', leave);
    leave();
  }
}

/** Returns what each further piece of text completes. */
function openParser(): (text: string) => Frame[] {
  let frames: Frame[] = [];
  const parser = createParser({
    maxBufferSize: MOST_CHARACTERS,
    onRetry: (retry) => void frames.push({ ...EMPTY, retry }),
    onId: (id) => void frames.push({ ...EMPTY, id }),
    onEvent({ id = null, event = null, data }) {
      // The parser has just reported the id by itself.
      if (id !== null) frames.pop();
      frames.push({ ...EMPTY, id, event, data });
    },
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw error;
    },
  });
  return (text) => {
    frames = [];
    parser.feed(text);
    return frames;
  };
}
