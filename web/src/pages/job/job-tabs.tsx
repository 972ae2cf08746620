/** The tabs of a job. Only the chosen one is rendered. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Job } from 'nightshift/client';
import { Tabs, type Tab } from '../../ui/layout/tabs.tsx';
import { jobWords } from '../../words.ts';
import { InputOutputTab } from './input-output/input-output-tab.tsx';
import css from './job.module.css';
import { JsonTab } from './json-tab.tsx';
import { LogsTab } from './logs-tab.tsx';
import { OverviewTab } from './overview/overview-tab.tsx';
import { PromptTab } from './prompt/prompt-tab.tsx';
import { CompareTab } from './replay/compare-tab.tsx';
import { StepsTab } from './steps/steps-tab.tsx';
import { Timeline } from './timeline/timeline.tsx';

const { tabs: labels } = jobWords;

type Name = keyof typeof labels;

export function JobTabs({ job, firstTokenAt }: { job: Job; firstTokenAt: number | null }) {
  const search = useSearch({ from: '/jobs/$jobId' });
  const navigate = useNavigate();
  const tabs: readonly Tab<Name>[] = [
    { name: 'overview', label: labels.overview, content: <OverviewTab job={job} firstTokenAt={firstTokenAt} /> },
    {
      name: 'timeline',
      label: labels.timeline,
      content: (
        <div className={css.stack}>
          <Timeline job={job} firstTokenAt={firstTokenAt} />
        </div>
      ),
    },
    { name: 'io', label: labels.io, content: <InputOutputTab job={job} /> },
    { name: 'prompt', label: labels.prompt, content: <PromptTab job={job} /> },
    { name: 'steps', label: labels.steps, content: <StepsTab job={job} /> },
    { name: 'logs', label: labels.logs, content: <LogsTab job={job} /> },
    { name: 'json', label: labels.json, content: <JsonTab job={job} /> },
    ...(search.compare === undefined
      ? []
      : [
          {
            name: 'compare' as const,
            label: labels.compare,
            content: <CompareTab key={search.compare} job={job} otherId={search.compare} />,
          },
        ]),
  ];
  const first = search.compare === undefined ? 'overview' : 'compare';
  const chosen = tabs.find(({ name }) => name === search.tab)?.name ?? first;
  return (
    <Tabs
      label={jobWords.views}
      tabs={tabs}
      value={chosen}
      onChange={(name) =>
        void navigate({
          to: '/jobs/$jobId',
          params: { jobId: job.id },
          search: { ...search, tab: name },
          replace: true,
        })
      }
    />
  );
}
