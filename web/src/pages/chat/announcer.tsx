/** Announces completed answers to screen readers. Partial messages are not announced. */
import { useEffect, useRef, useState } from 'react';
import type { Message } from 'nightshift/client';
import { textOf } from '../../data/format.ts';
import { chatWords } from '../../words.ts';
import css from './hidden.module.css';

const LONGEST = 300;

export function Announcer({ messages, isAtEnd }: { messages: readonly Message[]; isAtEnd: boolean }) {
  const lastId = useRef<string | null>(null);
  const [announcement, setAnnouncement] = useState('');
  const last = isAtEnd
    ? messages.findLast(({ role, status }) => role === 'assistant' && status === 'completed')
    : undefined;
  useEffect(() => {
    if (last === undefined || lastId.current === last.id) return;
    // The message that exists when the page opens is not announced.
    if (lastId.current !== null) setAnnouncement(chatWords.announced(textOf(last).slice(0, LONGEST)));
    lastId.current = last.id;
  }, [last]);
  return (
    <div className={css.hidden} role="status">
      {announcement}
    </div>
  );
}
