/** Parses Server-Sent Events from bytes, by the HTML standard. */

export type Frame = {
  /** Null: not given. */
  id: string | null;
  event: string | null;
  data: string | null;
  /** Milliseconds; null: not given. */
  retry: number | null;
};

/** Yields complete frames; drops an incomplete frame at the end. The signal ends the iteration. */
export async function* readFrames(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Frame, void, undefined> {
  const reader = body.getReader();
  const leave = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  const decoder = new TextDecoder();
  let rest = '';
  let lines: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A CR at the end may be the first half of a CRLF.
      const parts = rest.split(/\r\n|\n|\r(?!$)/);
      rest = parts.pop() ?? '';
      for (const line of parts) {
        if (line !== '') lines.push(line);
        else if (lines.length > 0) {
          yield frameOf(lines);
          lines = [];
        }
      }
    }
  } finally {
    signal.removeEventListener('abort', leave);
    leave();
  }
}

function frameOf(lines: readonly string[]): Frame {
  const frame: Frame = { id: null, event: null, data: null, retry: null };
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (name === 'data') frame.data = frame.data === null ? value : `${frame.data}\n${value}`;
    else if (name === 'id' || name === 'event') frame[name] = value;
    else if (name === 'retry' && /^\d+$/.test(value)) frame.retry = Number(value);
  }
  return frame;
}
