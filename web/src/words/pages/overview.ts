/** Texts of the page Overview. */

export const overviewWords = {
  range: 'Time range',
  spans: { '1h': '1 hour', '24h': '24 hours', '7d': '7 days', '30d': '30 days' },

  now: {
    title: 'Now',
    queued: { name: 'Queued', about: 'jobs not claimed yet' },
    running: { name: 'Running', about: 'jobs in a worker process' },
    waiting: { name: 'Waiting', about: 'jobs waiting for people, workers or timers' },
    tile: (name: string, jobs: string) => `${name}: ${jobs}`,
    contexts: 'Contexts',
    noContexts: 'No contexts yet',
  },

  plot: {
    showChart: (title: string) => `Show ${title} as chart`,
    showTable: (title: string) => `Show ${title} as table`,
    empty: 'No data in this time range.',
    keys: 'Use the arrow keys to move between data points.',
    overTime: (title: string) => `${title} over time`,
    from: 'From',
  },
  jobs: {
    title: 'Finished jobs',
    /** `failed` in percent; null: there are no jobs. */
    about: (jobs: string, failed: number | null) =>
      failed === null ? `${jobs} in total` : `${jobs} in total, ${failed}% failed`,
    completed: 'Completed',
    incomplete: 'Incomplete',
    failed: 'Failed',
    cancelled: 'Cancelled or interrupted',
  },
  latency: {
    title: 'Latency',
    about: 'Queue time of jobs, time to first token and duration of model calls',
    queued: 'Queue time, median',
    firstToken: 'Time to first token, median',
    firstTokenP95: 'Time to first token, p95',
    model: 'Model call, median',
    modelP95: 'Model call, p95',
  },
  tokens: {
    title: 'Tokens',
    about: (input: string, output: string) => `${input} input, ${output} output`,
    input: 'Input',
    cache: 'Cache reads and writes',
    output: 'Output',
  },
  cost: {
    title: 'Cost',
    about: (cost: string) => `${cost} in total`,
    unknown: 'None of the used models has a price.',
  },
} as const;
