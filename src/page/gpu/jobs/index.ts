/** Every job of the GPU worker, each loaded when it is first asked for. */
export const JOBS = {
  device: async () => (await import('./device.ts')).device,
  probe: async () => (await import('./probe.ts')).probe,
  ladder: async () => (await import('./ladder.ts')).ladder,
  workbench: async () => (await import('./workbench.ts')).workbench,
  gemm: async () => (await import('./gemm.ts')).gemm,
  tune: async () => (await import('./tune.ts')).tune,
  tuned: async () => (await import('./tune.ts')).tuned,
  ceilings: async () => (await import('./ceilings.ts')).ceilings,
  race: async () => (await import('./race.ts')).race,
};

export type JobName = keyof typeof JOBS;

/** A job's function type, by its name. */
export type Jobs = { [Name in JobName]: Awaited<ReturnType<(typeof JOBS)[Name]>> };
