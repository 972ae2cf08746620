// The config file of the processes: tools that record their effects outside or in tables of the service, the outbox of
// the service, and webhooks to receivers on this machine.
import { defineConfig } from '../../src/index.ts';
import { outsideTools } from '../e2e/outside/outside-tools.ts';
import { sellTool, tourTool } from './service-tools.ts';

const outside = process.env['OUTSIDE'] ?? '/dev/null';

export default defineConfig({
  tools: [...outsideTools(outside), tourTool(outside), sellTool()],
  outboxes: { shop: { url: process.env['OUTBOX_URL'], tenants: ['default'] } },
  limits: { webhooks: { allow: ['127.0.0.1'], http: true } },
});
