// A config file with tools that record their effects outside: in the file of OUTSIDE.
import { defineConfig } from '../../../src/index.ts';
import { outsideTools } from './outside-tools.ts';

export default defineConfig({ tools: outsideTools(process.env['OUTSIDE'] ?? '/dev/null') });
