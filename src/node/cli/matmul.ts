import { Command } from 'commander';
export const matmulCommand = (_version: string, _finish: (exitCode: number) => void) => new Command('matmul');
