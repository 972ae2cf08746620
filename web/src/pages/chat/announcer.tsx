/** Announces completed answers to screen readers. Partial messages are not announced. */
import { useEffect, useRef, useState } from 'react';
import type { Message } from 'nightshift/client';
import { textOf } from '../../data/format.ts';
import css from './hidden.module.css';

const LONGEST = 300;

export function Announcer({ messages, isAtEnd }: { messages: readonly Message[]; isAtEnd: boolean }) {
  const heard = useRef<string | null>(null);
  const [said, setSaid] = useState('');
  const last = isAtEnd ? messages.findLast(({ role }) => role === 'assistant') : undefined;
  useEffect(() => {
    if (last === undefined || heard.current === last.id) return;
    // The message that exists when the page opens is not announced.
    if (heard.current !== null) setSaid(`Assistant: ${textOf(last).slice(0, LONGEST)}`);
    heard.current = last.id;
  }, [last]);
  return (
    <div className={css.hidden} role="status">
      {said}
    </div>
  );
}
