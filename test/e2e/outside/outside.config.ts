// An config file with tools that leave their mark on the outside world: a file that OUTSIDE names.
import { defineConfig } from '../../../src/index.ts';
import { outsideTools } from './outside-tools.ts';

export default defineConfig({ tools: outsideTools(process.env['OUTSIDE'] ?? '/dev/null') });
