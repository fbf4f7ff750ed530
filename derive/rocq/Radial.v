(* The theorem on beta = phi u with a vector u of any dimension: Q is a function of the length of beta, less a linear one. *)
From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Coquelicot.
Require Import Mirror.
Open Scope R_scope.

(* q as an integral of its slope on an upward interval that is open *)
Lemma integral_slope (P : R -> Prop) (p dp : R -> R) n_0 : (forall x y, P x -> x <= y -> P y) -> (forall n, P n -> locally n P) ->
  (forall n, P n -> 0 <= n) -> (forall n, 0 <= n -> P n -> is_derive p n (dp n)) -> P n_0 ->
  forall n, 0 <= n -> P n -> is_derive (fun n => RInt (fun x => p x / 2) n_0 n) n (p n / 2).
Proof.
  intros U O A D h0 n _ h. assert (C : forall x, P x -> continuous (fun x => p x / 2) x) by (intros; eapply steady_at, d_over, D; auto).
  apply (is_derive_RInt (fun x => p x / 2) _ n_0); [|apply C, h].
  apply (filter_imp P); [|apply O, h]. intros b hb. apply @RInt_correct, @ex_RInt_continuous. intros x [hx _]. apply C.
  apply (U (Rmin n_0 b)); [|exact hx]. apply Rmin_case; assumption.
Qed.
(* beta = phi u, phi a function of |u|^2, with the slope dphi, and of weights beside the vector u, which are those from the m-th on;
   psi u is steered: Q = q(|b|^2) - <y_0, b> *)
Section Radial.
Variables (m d : nat) (rate : nat -> (nat -> R) -> R) (phi : (nat -> R) -> R -> R) (r : R) (y_0 : nat -> R) (w lam : R -> nat -> R).
Variables (psi dphi : R -> R) (P : R -> Prop) (q p dp : R -> R).
Let u t := tail m (w t).
Let N t := dot d (u t) (u t).
Hypothesis H : flow (m + d) d rate (fun v i => phi v (dot d (tail m v) (tail m v)) * tail m v i) w lam.
Hypothesis apart : forall v i x, phi (upd v (m + i) x) = phi v.
Hypothesis same : forall i v, rate (m + i)%nat v = r.
Hypothesis sloped : forall t, 0 <= t -> is_derive (phi (w t)) (N t) (dphi t).

Lemma turns t k l : 0 <= t -> (k < m)%nat -> partial (fun v => phi v (dot d (tail m v) (tail m v))) k (w t) l ->
  is_derive (fun s => w s k) t (rate k (w t) * l * dot d (u t) (lam t)).
Proof.
  intros ht hk L. rewrite Rmult_assoc, <- dot_scal. apply (flow_at _ _ _ _ _ _ H); [exact ht|lia|]. intros i hi.
  apply (is_derive_ext (fun x => phi (upd (w t) k x) (dot d (tail m (upd (w t) k x)) (tail m (upd (w t) k x))) * u t i)).
  - intros x. f_equal. unfold u, tail, upd. destruct (Nat.eqb_spec (m + i) k); [lia|reflexivity].
  - apply (is_derive_scal_l _ (w t k) l (u t i) L).
Qed.
Lemma turned t i : 0 <= t -> (i < d)%nat -> is_derive (fun s => u s i) t (r * (phi (w t) (N t) * lam t i + 2 * dphi t * dot d (u t) (lam t) * u t i)).
Proof.
  intros ht hi. set (U := fun x => tail m (upd (w t) (m + i) x)).
  assert (D : forall j, is_derive (fun x => U x j) (w t (m + i)%nat) (kron i j)).
  { intros j. unfold U, tail, upd, kron. destruct (Nat.eqb_spec i j) as [->|n]; [rewrite Nat.eqb_refl; apply d_id|].
    destruct (Nat.eqb_spec (m + j) (m + i)); [lia|apply d_const]. }
  assert (E : forall j, U (w t (m + i)%nat) j = u t j) by (intros j; unfold U, u, tail, upd; destruct (Nat.eqb_spec (m + j) (m + i)) as [->|]; reflexivity).
  assert (E' : dot d (U (w t (m + i)%nat)) (U (w t (m + i)%nat)) = N t) by (apply Sum_ext; intros; rewrite !E; reflexivity).
  evar_last.
  - apply (flow_at _ _ _ _ _ _ H t (m + i) (fun j => 2 * dphi t * u t i * u t j + phi (w t) (N t) * kron i j)); [exact ht|lia|]. intros j hj.
    apply (is_derive_ext (fun x => phi (w t) (dot d (U x) (U x)) * U x j)); [intros x; rewrite apart; reflexivity|]. evar_last.
    + apply (d_mult (fun x => phi (w t) (dot d (U x) (U x))) (fun x => U x j)); [|apply D].
      apply (d_comp (phi (w t)) (fun x => dot d (U x) (U x))); [rewrite E'; apply sloped, ht|apply square_derive; intros; apply D].
    + cbv beta. rewrite dot_comm, dot_kron, !E, E' by exact hi. ring.
  - rewrite same. replace (dot d _ (lam t)) with (2 * dphi t * u t i * dot d (u t) (lam t) + phi (w t) (N t) * dot d (kron i) (lam t)).
    + rewrite dot_kron by exact hi. ring.
    + unfold dot. rewrite <- !Sum_scal, <- Sum_plus. apply Sum_ext. intros. ring.
Qed.
Lemma lengthens t : 0 <= t -> is_derive N t (2 * (r * (phi (w t) (N t) + 2 * dphi t * N t)) * dot d (u t) (lam t)).
Proof.
  intros ht. evar_last; [apply square_derive; intros; apply turned; assumption|]. rewrite dot_scal_r. set (c := 2 * dphi t * dot d (u t) (lam t)).
  replace (dot d (u t) _) with (phi (w t) (N t) * dot d (u t) (lam t) + c * N t); [unfold c; ring|].
  unfold N, dot. rewrite <- !Sum_scal, <- Sum_plus. apply Sum_ext. intros. ring.
Qed.
Lemma pushes t (j : nat) : 0 <= t -> (j < 1)%nat -> continuous (fun s => dot d (u s) (lam s)) t.
Proof.
  intros ht _. apply (Sum_continuous d (fun i s => u s i * lam s i)). intros i hi.
  apply (continuous_mult (fun s => u s i) (fun s => lam s i)); [apply (steady_at _ _ _ (turned t i ht hi))|apply (proj1 H); assumption].
Qed.

Hypothesis upward : forall x y, P x -> x <= y -> P y.
Hypothesis q' : forall n, 0 <= n -> P n -> is_derive q n (p n / 2).
Hypothesis p' : forall n, 0 <= n -> P n -> is_derive p n (dp n).
Hypothesis across : forall n, 0 <= n -> P n -> 0 < p n.
Hypothesis beyond : forall n, 0 <= n -> P n -> 0 < p n + 2 * n * dp n.
Hypothesis inside : forall t, 0 <= t -> P (phi (w t) (N t) ^ 2 * N t).
Hypothesis from : forall i, (i < d)%nat -> psi 0 * tail m (w 0) i = y_0 i.
Hypothesis steered : forall t, 0 <= t -> is_derive psi t (- (2 * r * dphi t * dot d (u t) (lam t)) * psi t).
Hypothesis inverse : forall t, 0 <= t -> p (phi (w t) (N t) ^ 2 * N t) = psi t / phi (w t) (N t).
Hypothesis pushed : forall t, 0 <= t -> 0 < r * psi t * phi (w t) (N t).

(* the excess of q over its tangent, as a function of lengths *)
Lemma tangent s s' : 0 <= s -> 0 <= s' -> P (s ^ 2) -> P (s' ^ 2) -> s <> s' -> q (s ^ 2) + s * p (s ^ 2) * (s' - s) < q (s' ^ 2).
Proof.
  intros hs hs' h h' n.
  destruct (remainder (fun s => 0 <= s /\ P (s ^ 2)) (fun s => q (s ^ 2)) (fun s => s * p (s ^ 2)) (fun s => p (s ^ 2) + 2 * s ^ 2 * dp (s ^ 2)) s s')
    as [c [e [[hc Pc] [he ->]]]]; auto.
  - intros x y z [hx Px] _ hz. split; [lra|]. apply (upward (x ^ 2)); [exact Px|apply pow_incr; lra].
  - intros x [hx Px]. assert (D := q' (x ^ 2) (pow2_ge_0 x) Px). evar_last; [diff|cbv beta; field].
  - intros x [hx Px]. assert (D := p' (x ^ 2) (pow2_ge_0 x) Px). evar_last; [diff|cbv beta; ring].
  - generalize (Rmult_lt_0_compat _ _ (beyond (c ^ 2) (pow2_ge_0 c) Pc) he). lra.
Qed.
Let G b i := p (dot d b b) * b i - y_0 i.
Lemma radial_slope b v : dot d (G b) v = p (dot d b b) * dot d b v - dot d y_0 v.
Proof. unfold G. rewrite dot_minus, dot_scal. reflexivity. Qed.
Lemma radial_excess b c : P (dot d b b) -> P (dot d c c) -> exists e, 0 <= e /\ (e = 0 -> agree d b c) /\
  q (dot d c c) - dot d y_0 c = q (dot d b b) - dot d y_0 b + dot d (G b) (fun i => c i - b i) + e.
Proof.
  intros hb hc. exists (q (dot d c c) - q (dot d b b) - p (dot d b b) * (dot d b c - dot d b b)).
  assert (hp := across _ (dot_ge0 d b) hb). rewrite radial_slope, !dot_minus_r.
  assert (Es := pow2_sqrt _ (dot_ge0 d b)). assert (Es' := pow2_sqrt _ (dot_ge0 d c)).
  assert (hs := sqrt_pos (dot d b b)). assert (hs' := sqrt_pos (dot d c c)). set (s := sqrt (dot d b b)) in *. set (s' := sqrt (dot d c c)) in *.
  assert (C := cauchy d b c s s' hs hs' (eq_sym Es) (eq_sym Es')). rewrite <- Es, <- Es' in *.
  assert (hC : 0 <= p (s ^ 2) * (s * s' - dot d b c)) by (apply Rmult_le_pos; lra).
  assert (T := tangent s s' hs hs' hb hc). split; [|split; [|ring]].
  - destruct (Req_dec s s') as [E|n]; [rewrite <- E in *; lra|generalize (T n); lra].
  - intros Z i hi. assert (E : s = s') by (destruct (Req_dec s s') as [|n]; [assumption|generalize (T n); lra]). rewrite <- E in *.
    assert (Z' : dot d b c = s ^ 2) by (apply (Rmult_eq_reg_l (p (s ^ 2))); lra).
    apply Rminus_diag_uniq, (dot_eq0 d (fun i => b i - c i)); [|exact hi]. rewrite dot_minus, !dot_minus_r, (dot_comm d c b). lra.
Qed.

Theorem radial : regularizes d (fun b => P (dot d b b)) (fun b => q (dot d b b) - dot d y_0 b) (fun t i => phi (w t) (N t) * u t i) lam.
Proof.
  assert (L : forall t, dot d (fun i => phi (w t) (N t) * u t i) (fun i => phi (w t) (N t) * u t i) = phi (w t) (N t) ^ 2 * N t).
  { intros t. rewrite dot_scal, dot_scal_r. fold (N t). ring. }
  apply (mirror_regularizes d _ _ G _ (fun t i => psi t * u t i - y_0 i) lam (fun t => r * psi t * phi (w t) (N t))); [| |exact radial_excess| | | | |exact pushed].
  - intros t ht. rewrite L. apply inside, ht.
  - intros b hb v. rewrite radial_slope.
    assert (D := square_derive d (line b v) v 0 ltac:(intros; apply line_derive)). rewrite line_0 in D.
    evar_last; [apply (d_minus (fun s => q (dot d (line b v s) (line b v s))) (fun s => dot d y_0 (line b v s)))|].
    + apply (d_comp q); [rewrite line_0; apply q'; [apply dot_ge0|exact hb]|exact D].
    + apply dot_derive. intros. apply line_derive.
    + field.
  - intros b f hb T i hi. apply tends_minus; [apply tends_mult; [|apply T, hi]|apply tends_const].
    apply (tends_unary p (fun t => dot d (f t) (f t)) _ _ (p' _ (dot_ge0 d b) hb)). apply tends_dot; exact T.
  - intros t i ht hi. unfold G. rewrite L, (inverse t ht). field. intros E. generalize (pushed t ht). rewrite E. lra.
  - intros i hi. unfold u. rewrite <- (from i hi). ring.
  - intros t i ht hi. evar_last; [apply d_minus; [apply (d_mult psi (fun s => u s i)); [apply steered|apply turned]; assumption|apply d_const]|ring].
Qed.
End Radial.
