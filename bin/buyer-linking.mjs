#!/usr/bin/env node
// The program `buyer-linking`. Where this Node is too old, the one that `npm ci` has installed runs it.
import { spawn } from 'node:child_process';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { isNodeNewEnough, oldNodeMessage } from './node-version.mjs';

if (isNodeNewEnough) {
  // Not in the temporary folder, where another user of the machine could plant code.
  module.enableCompileCache(
    fileURLToPath(new URL('../node_modules/.cache/node-compile-cache', import.meta.url)),
  );
  await import('./admin.ts');
} else {
  const [node, program] = ['../node_modules/node/bin/node', 'buyer-linking.mjs'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  const child = spawn(node, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
  // The terminal sends Ctrl-C to both processes. The child decides what it means.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('error', () => {
    console.error(oldNodeMessage);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
}
