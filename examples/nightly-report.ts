/**
 * A report for cron: several workers in parallel write a part each; the results become one Markdown file.
 *
 *   npm start                                             in one terminal
 *   node examples/nightly-report.ts [date] [folder]       in another
 *   npm run example -- nightly-report [date] [folder]     the same with Node.js older than 24
 *
 * A line for crontab:
 *
 *   0 2 * * *  node …/nightly-report.ts "$(date -I)" reports
 *
 * Without a folder the report goes to standard output.
 *
 * Every request has an idempotency key made from the date. If the script is started again in the same night, it finds
 * its earlier requests and waits for their results, so each part is created and paid for only once.
 *
 * The workers of a night are archived after a week: lists do not show them any more, and their results remain.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createClient, type Job } from 'nightshift/client';
import { explainErrors } from './errors.ts';

explainErrors();

const url = process.env['NIGHTSHIFT_URL'] ?? 'http://127.0.0.1:3000';
const client = createClient({ url, apiKey: process.env['NIGHTSHIFT_API_KEY'] });

const [, , date = new Date().toISOString().slice(0, 10), folder] = process.argv;

// With a real model: set it here, give the role tools that provide the figures, and write the inputs as plain text.
const model = 'simulated/demo';
const WEEK_S = 7 * 24 * 3600;
const parts = [
  { name: 'sales', input: 'think: Up from yesterday.\nsay: 132 orders, 11 % more than the day before.' },
  { name: 'support', input: 'say: 18 questions, all answered; two refunds.' },
  { name: 'stock', input: 'wait: 200ms\nsay: Lamps run out on Thursday.' },
];

async function ask({ name, input }: (typeof parts)[number]): Promise<{ name: string; job: Job }> {
  const { job_id } = await client.workers.create(
    { name: `${name} ${date}`, config: { model, idle_timeout_s: WEEK_S }, input },
    { idempotencyKey: `report-${date}-${name}` },
  );
  console.error(`${name}: job ${job_id}`);
  return { name, job: await client.jobs.wait(job_id) };
}

const answers = await Promise.all(parts.map(ask));

const sections = answers.map(({ name, job }) =>
  job.status === 'completed'
    ? `## ${name}\n\n${job.output?.text}\n`
    : `## ${name}\n\n*${job.status}: ${job.error?.message ?? 'no answer'}*\n`,
);
const report = [`# Report of ${date}\n`, ...sections].join('\n');
if (folder === undefined) {
  process.stdout.write(report);
} else {
  const file = path.join(folder, `report-${date}.md`);
  await mkdir(folder, { recursive: true });
  await writeFile(file, report);
  console.error(`wrote ${file}`);
}
process.exitCode = answers.every(({ job }) => job.status === 'completed') ? 0 : 1;
