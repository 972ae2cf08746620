import { useScopes } from '../../../data/query/session.ts';
import { withParam } from '../../../data/search-params.ts';
import { DayFilter, FilterBar, SelectFilter } from '../../../ui/forms/filters.tsx';
import { TextFilter } from '../../../ui/forms/text-filter.tsx';
import { actionOptions, type AuditSearch } from './filter.ts';
import { auditWords, commonWords } from '../../../words.ts';

const words = auditWords.filters;

export function AuditFilters({ search, onChange }: { search: AuditSearch; onChange: (search: AuditSearch) => void }) {
  const { actor, action, target, from, to } = search;
  const actions = actionOptions(useScopes());
  const set = (name: keyof AuditSearch, value: string | undefined): void => onChange(withParam(search, name, value));
  return (
    <FilterBar label={words.label}>
      <TextFilter
        label={words.actor}
        placeholder={words.actorExample}
        value={actor}
        onChange={(value) => set('actor', value)}
      />
      <SelectFilter
        label={words.action}
        any={words.anyAction}
        value={actions.find(({ value }) => value === action)?.value}
        options={actions}
        onChange={(value) => set('action', value)}
      />
      <TextFilter
        label={words.target}
        placeholder={words.targetExample}
        value={target}
        onChange={(value) => set('target', value)}
      />
      <DayFilter label={commonWords.from} value={from} onChange={(value) => set('from', value)} />
      <DayFilter label={commonWords.until} value={to} onChange={(value) => set('to', value)} />
    </FilterBar>
  );
}
