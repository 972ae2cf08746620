// The config file of the processes: tools that record their effects outside, and webhooks to receivers on this machine.
import { defineConfig } from '../../src/index.ts';
import { outsideTools } from '../e2e/outside/outside-tools.ts';

export default defineConfig({
  tools: outsideTools(process.env['OUTSIDE'] ?? '/dev/null'),
  limits: { webhooks: { allow: ['127.0.0.1'], http: true } },
});
