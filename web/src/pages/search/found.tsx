import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { SearchResult } from 'nightshift/client';
import { contextQuery } from '../../data/query/contexts.ts';
import { contextName, shortId } from '../../data/format.ts';
import { Badge } from '../../ui/text/badge.tsx';
import { RelativeTime } from '../../ui/text/time.tsx';
import { partsOf } from './parts.ts';
import { searchWords } from '../../words.ts';
import css from './search.module.css';

export function Found({ result }: { result: SearchResult }) {
  const { context_id: contextId, message_id: message, role, snippet, created_at } = result;
  const context = useQuery({ ...contextQuery(contextId), staleTime: 60_000 });
  return (
    <Link to="/contexts/$contextId" params={{ contextId }} search={{ message }} className={css.found}>
      <span className={css.where}>
        <Badge tone={role === 'user' ? 'accent' : 'neutral'}>{searchWords.message[role]}</Badge>
        <strong>
          {context.data === undefined ? searchWords.context(shortId(contextId)) : contextName(context.data)}
        </strong>
        <RelativeTime at={created_at} />
      </span>
      <span className={css.snippet}>
        {partsOf(snippet).map(({ text, isMet }, at) =>
          isMet ? <mark key={at}>{text}</mark> : <span key={at}>{text}</span>,
        )}
      </span>
    </Link>
  );
}
