/**
 * A text that is drawn again and again in the same place: on the alternate screen of the terminal, without a cursor, and
 * without scrolling. `close` brings back what the terminal showed before, and so does Ctrl-Z until the process goes on.
 */
import type { Screen } from './screen.ts';

export type LiveView = {
  /** `render` returns the whole text for the size that the terminal has. */
  show(render: () => string): void;
  close(): void;
};

const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

export function openLiveView(screen: Pick<Screen, 'out' | 'rows' | 'onResize' | 'onSuspend'>): LiveView {
  let render = (): string => '';
  const draw = (): void => {
    const lines = render()
      .trimEnd()
      .split('\n')
      .slice(0, screen.rows ?? undefined);
    // No newline after the last line: it would scroll a full screen.
    screen.out(`${HOME}${lines.map((line) => `${line}${CLEAR_LINE}`).join('\r\n')}${CLEAR_BELOW}`);
  };
  const enter = (): void => {
    screen.out(ENTER);
    draw();
  };
  screen.out(ENTER);
  const ends = [screen.onResize(draw), screen.onSuspend(() => screen.out(LEAVE), enter)];
  return {
    show(next) {
      render = next;
      draw();
    },
    close() {
      for (const end of ends) end();
      screen.out(LEAVE);
    },
  };
}
