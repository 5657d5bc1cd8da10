import type { Suggestion } from '../choose.ts';
import type { Problem } from '../problem.ts';
import type { Profile } from '../profile.ts';

export function startingPoints(_problem: Problem, _profile: Profile): readonly Suggestion[] {
  return [];
}
