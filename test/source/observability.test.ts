// The dashboard and the alert rules of deploy/observability: they can be read, and name only metrics that the
// documentation has.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const ROOT = path.join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

const documented = new Set(read('docs/metrics.md').match(/\bnightshift_\w+/g));

/** The metrics of an expression; the series of a histogram count as the histogram. */
function metricsOf(expression: string): string[] {
  const names = expression.match(/\bnightshift_\w+/g) ?? [];
  return names.map((name) => (documented.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '')));
}

type Dashboard = { title: string; panels: { title: string; targets: { expr: string }[] }[] };
type Rules = { groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[] };

const dashboard = JSON.parse(read('deploy/observability/grafana-dashboard.json')) as Dashboard;
const rules = (parse(read('deploy/observability/prometheus-rules.yaml')) as Rules).groups.flatMap(
  (group) => group.rules,
);

test('each panel and each rule is about metrics that the documentation has', () => {
  const expressions = [
    ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ of: title, expr }))),
    ...rules.map(({ alert, expr }) => ({ of: alert, expr })),
  ];
  expect(expressions.length).toBeGreaterThan(20);
  for (const { of, expr } of expressions) {
    expect(metricsOf(expr), of).not.toEqual([]);
    expect(
      metricsOf(expr).filter((name) => !documented.has(name)),
      of,
    ).toEqual([]);
  }
});

test('a metric that is compared with zero is missed if no process reports it', () => {
  const gauges = rules.flatMap(({ expr }) => [...expr.matchAll(/\((nightshift_\w+)\) == 0/g)].map(([, name]) => name));
  const optional = ['nightshift_mcp_server_up', 'nightshift_outbox_up'];
  const missed = rules.flatMap(({ expr }) => [...expr.matchAll(/absent\((nightshift_\w+)\)/g)].map(([, name]) => name));
  expect(gauges.length).toBeGreaterThan(2);
  expect(gauges.filter((name) => !optional.includes(String(name)) && !missed.includes(name))).toEqual([]);
});

test('a metric that does not exist is found', () => {
  expect(metricsOf('sum(rate(nightshift_ghosts_bucket[5m]))')).toEqual(['nightshift_ghosts']);
  expect(documented.has('nightshift_ghosts')).toBe(false);
});

test('each rule has a name of its own and says what happened', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { annotations } of rules) expect(annotations.summary).toMatch(/\.$/);
});
