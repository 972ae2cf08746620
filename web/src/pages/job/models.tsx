/** The models that a job was run with; until it has called one, the model that its worker has now. A fact of a `dl`. */
import { useQuery } from '@tanstack/react-query';
import type { Job } from 'nightshift/client';
import { jobStepsQuery } from '../../data/live/job-steps.ts';
import { jobWords } from '../../words.ts';
import { Fact } from './fact.tsx';
import { modelsOf } from './models-of.ts';

const words = jobWords.overview;

export function Models({ job }: { job: Job }) {
  const { data, isError } = useQuery(jobStepsQuery(job.id));
  if (data === undefined && !isError) return <Fact name={words.model}>…</Fact>;
  const models = modelsOf(data?.steps ?? []);
  return models.length === 0 ? (
    <Fact name={words.currentModel}>{job.model}</Fact>
  ) : (
    <Fact name={words.model}>{models.join(', ')}</Fact>
  );
}
