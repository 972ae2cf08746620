/** A part of a prompt. `differs`: it is what differs from the request before. */
import { useState, type ReactNode } from 'react';
import { classes } from '../../../ui/classes.ts';
import { Badge } from '../../../ui/text/badge.tsx';
import { jobWords } from '../../../words.ts';
import css from './prompt.module.css';

type Props = { title: string; differs: boolean; isOpen?: boolean; children: ReactNode };

export function Section({ title, differs, isOpen = true, children }: Props) {
  // What differs is shown at once.
  const [open, setOpen] = useState(isOpen || differs);
  return (
    <details
      className={classes(css.section, differs && css.differs)}
      open={open}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <h2>{title}</h2>
        {differs && <Badge tone="amber">{jobWords.prompt.differs}</Badge>}
      </summary>
      {open && <div className={css.content}>{children}</div>}
    </details>
  );
}
