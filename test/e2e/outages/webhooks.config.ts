// Webhooks may go to a receiver on this machine.
import { defineConfig } from '../../../src/index.ts';

export default defineConfig({ limits: { webhooks: { allow: ['127.0.0.1'], http: true } } });
