(* The theorem on beta = phi u with a vector u of any dimension: Q is a function of the length of beta, less a linear one; below, that on
   beta = f(v)/sum f(v) of any number of entries. *)
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

(* ------------------------------------------------------------------ *)
(* beta = f(v)/sum f(v) of d + 1 entries, of which the last is what the others leave of 1. With h' = 1/f' and l' = f/f' the flow keeps
   the sum of l(v), l is convex as a function of h, and Q = sum beta h(v) above beta, in u *)
Definition over d (b : nat -> R) k := if Nat.eqb k d then 1 - Sum d b else b k.
Lemma over_last d b : over d b d = 1 - Sum d b.
Proof. unfold over. rewrite Nat.eqb_refl. reflexivity. Qed.
Lemma over_below d b k : (k < d)%nat -> over d b k = b k.
Proof. intros h. unfold over. destruct (Nat.eqb_spec k d); [lia|reflexivity]. Qed.
Lemma over_sum d b z : Sum (S d) (fun k => over d b k * z k) = z d + Sum d (fun k => b k * (z k - z d)).
Proof.
  simpl. rewrite over_last, (Sum_ext d _ (fun k => b k * z k)) by (intros; rewrite over_below by assumption; reflexivity).
  rewrite (Sum_ext d (fun k => b k * (z k - z d)) (fun k => b k * z k - z d * b k)) by (intros; ring). rewrite Sum_minus, Sum_scal. ring.
Qed.
Lemma over_slope d z v : Sum (S d) (fun k => z k * (if Nat.eqb k d then - Sum d v else v k)) = dot d (fun i => z i - z d) v.
Proof.
  simpl. rewrite Nat.eqb_refl, (Sum_ext d _ (fun i => z i * v i)) by (intros i hi; destruct (Nat.eqb_spec i d); [lia|reflexivity]).
  unfold dot. rewrite (Sum_ext d (fun i => (z i - z d) * v i) (fun i => z i * v i - z d * v i)) by (intros; ring). rewrite Sum_minus, Sum_scal. ring.
Qed.
Lemma over_at d b v k : over d (fun i => b i + 0 * v i) k = over d b k.
Proof. unfold over. rewrite Rmult_0_l, Rplus_0_r, (Sum_ext d (fun i => b i + 0 * v i) b) by (intros; ring). reflexivity. Qed.
Lemma over_derive d b v k : is_derive (fun s => over d (fun i => b i + s * v i) k) 0 (if Nat.eqb k d then - Sum d v else v k).
Proof.
  unfold over. destruct (Nat.eqb_spec k d); [|apply (line_derive b v k 0)].
  evar_last; [apply (d_minus (fun _ => 1)); [apply d_const|apply (Sum_derive d (fun i s => b i + s * v i) v)]|ring]. intros i _. apply (line_derive b v i 0).
Qed.
Lemma over_tends d x b k : (forall i, (i < d)%nat -> tends (fun t => x t i) (b i)) -> (k < S d)%nat -> tends (fun t => over d (x t) k) (over d b k).
Proof.
  intros X hk. unfold over. destruct (Nat.eqb_spec k d); [|apply X; lia].
  apply (tends_minus (fun _ => 1)); [apply tends_const|apply (tends_Sum d (fun i t => x t i)), X].
Qed.
Lemma shares d z k : (forall k, (k < S d)%nat -> 0 < z k) -> (k < S d)%nat ->
  0 < Sum (S d) z /\ over d (fun i => z i / Sum (S d) z) k = z k / Sum (S d) z.
Proof.
  intros hz hk. assert (hT : 0 < Sum (S d) z).
  { apply (Rlt_le_trans _ (z d)); [apply hz; lia|]. apply (Sum_term (S d) z); [|lia]. intros i hi. left. apply hz, hi. }
  split; [exact hT|]. destruct (Nat.eq_dec k d) as [->|n]; [|rewrite over_below by lia; reflexivity].
  rewrite over_last, (Sum_ext d _ (fun i => / Sum (S d) z * z i)) by (intros; unfold Rdiv; ring). rewrite Sum_scal. simpl in *. field. lra.
Qed.
Lemma Sum_const n a : Sum n (fun _ => a) = INR n * a.
Proof. induction n as [|n IH]; [simpl; ring|]. rewrite S_INR. simpl. rewrite IH. ring. Qed.
Section Normalized.
Variables (d : nat) (f df h l : R -> R) (V : R -> Prop) (c : R) (u : (nat -> R) -> nat -> R) (s q : (nat -> R) -> R) (y_0 : nat -> R).
Variables (w lam : R -> nat -> R).
Let T (v : nat -> R) := Sum (S d) (fun k => f (v k)).
Let F v i := f (v i) / T v.
Let P b := forall k, (k < S d)%nat -> 0 < over d b k.
Hypothesis H : flow (S d) d (fun _ _ => 1) F w lam.
Hypothesis within : forall t k, 0 <= t -> (k < S d)%nat -> V (w t k).
Hypothesis f' : forall x, V x -> is_derive f x (df x) /\ 0 < f x /\ 0 < df x.
Hypothesis h' : forall x, V x -> is_derive h x (/ df x).
Hypothesis l' : forall x, V x -> is_derive l x (f x / df x).
Hypothesis interval : forall x y z, V x -> V y -> x <= z <= y -> V z.
Hypothesis began : Sum (S d) (fun k => l (w 0 k)) = c.
Hypothesis above : forall b, P b -> 0 < s b /\ Sum (S d) (fun k => l (u b k)) = c /\ forall k, (k < S d)%nat -> V (u b k) /\ f (u b k) = over d b k * s b.
Hypothesis known : forall v, (forall k, (k < S d)%nat -> V (v k)) -> Sum (S d) (fun k => l (v k)) = c -> forall k, (k < S d)%nat -> u (F v) k = v k.
Hypothesis value : forall b, P b -> q b = Sum (S d) (fun k => over d b k * h (u b k)).
Hypothesis sloped : forall b v, P b ->
  is_derive (fun s => q (fun i => b i + s * v i)) 0 (Sum (S d) (fun k => h (u b k) * (if Nat.eqb k d then - Sum d v else v k))).
Hypothesis steadied : forall b x, P b -> (forall i, (i < d)%nat -> tends (fun t => x t i) (b i)) ->
  forall k, (k < S d)%nat -> tends (fun t => h (u (x t) k)) (h (u b k)).
Hypothesis from : forall i, (i < d)%nat -> y_0 i = h (w 0 i) - h (w 0 d).

Lemma convex x y : V x -> V y -> l y - l x <= f y * (h y - h x) /\ (f y * (h y - h x) = l y - l x -> x = y).
Proof.
  intros hx hy. destruct (Req_dec x y) as [->|n]; [lra|]. enough (0 < f y * (h y - h x) - (l y - l x)) by lra.
  destruct (mean V (fun x => f y * (h y - h x) - (l y - l x)) (fun x => (f x - f y) / df x)) with (x := y) (y := x) as [z [hz [hn E]]]; auto.
  - intros r hr. destruct (f' r hr) as [_ [_ hd]]. evar_last.
    + apply (d_minus (fun x => f y * (h y - h x)) (fun x => l y - l x)).
      * apply (d_scal (f y) (fun x => h y - h x)), (d_minus (fun _ => h y) h); [apply d_const|apply h', hr].
      * apply (d_minus (fun _ => l y) l); [apply d_const|apply l', hr].
    + field. lra.
  - cbv beta in E. replace (f y * (h y - h x) - (l y - l x)) with ((f z - f y) / df z * (x - y)) by lra. destruct (f' z hz) as [_ [_ hd]].
    destruct (Rle_or_lt z y) as [le|lt].
    + assert (z < y) by nra. assert (U : f z < f y) by (apply (increasing V f df); try assumption; intros; apply f'; assumption).
      replace ((f z - f y) / df z * (x - y)) with ((f y - f z) * (y - x) / df z) by (field; lra). apply Rdiv_lt_0_compat; [nra|exact hd].
    + assert (U : f y < f z) by (apply (increasing V f df); try assumption; intros; apply f'; assumption).
      replace ((f z - f y) / df z * (x - y)) with ((f z - f y) * (x - y) / df z) by (field; lra). apply Rdiv_lt_0_compat; [nra|exact hd].
Qed.
Lemma over_F v k : (forall k, (k < S d)%nat -> V (v k)) -> (k < S d)%nat -> 0 < T v /\ over d (F v) k = f (v k) / T v.
Proof. intros hv hk. apply (shares d (fun k => f (v k))); [|exact hk]. intros i hi. apply f', hv, hi. Qed.
Lemma total v : (forall k, (k < S d)%nat -> V (v k)) -> 0 < T v.
Proof. intros hv. apply (over_F v d hv). lia. Qed.
Lemma normal t : 0 <= t -> P (F (w t)).
Proof. intros ht k hk. rewrite (proj2 (over_F (w t) k (fun k => within t k ht) hk)). apply Rdiv_lt_0_compat; [apply f'; auto|apply total; auto]. Qed.
Let m t := dot d (F (w t)) (lam t).
Lemma moved t k : 0 <= t -> (k < S d)%nat -> is_derive (fun s => w s k) t (df (w t k) / T (w t) * (over d (lam t) k * (if Nat.eqb k d then 0 else 1) - m t)).
Proof.
  intros ht hk. assert (hT := total (w t) (fun k => within t k ht)). evar_last.
  - apply (flow_at _ _ _ _ _ _ H t k (fun i => df (w t k) / T (w t) * (kron k i - F (w t) i))); [exact ht|exact hk|]. intros i hi.
    assert (D : forall j, is_derive (fun x => f (upd (w t) k x j)) (w t k) (kron k j * df (w t k))).
    { intros j. unfold upd, kron. rewrite (Nat.eqb_sym j k). destruct (Nat.eqb_spec k j) as [->|n].
      - rewrite Rmult_1_l. apply f', within; assumption.
      - rewrite Rmult_0_l. apply d_const. }
    assert (E : forall j, upd (w t) k (w t k) j = w t j) by (intros j; unfold upd; destruct (Nat.eqb_spec j k) as [->|]; reflexivity).
    assert (E' : T (upd (w t) k (w t k)) = T (w t)) by (apply Sum_ext; intros; rewrite E; reflexivity).
    unfold partial. evar_last.
    + apply (d_div (fun x => f (upd (w t) k x i)) (fun x => T (upd (w t) k x))); [rewrite E'; lra|apply D|]. unfold T. apply Sum_derive. intros j _. apply D.
    + cbv beta. rewrite E, E', (Sum_kron _ (fun _ => df (w t k))) by exact hk.
      unfold F. field. lra.
  - assert (E : dot d (fun i => df (w t k) / T (w t) * (kron k i - F (w t) i)) (lam t) = df (w t k) / T (w t) * (dot d (kron k) (lam t) - m t)).
    { unfold m. rewrite <- dot_minus, <- dot_scal. reflexivity. }
    rewrite E. cbv beta. rewrite Rmult_1_l. f_equal. f_equal. destruct (Nat.eqb_spec k d) as [->|n].
    + rewrite Rmult_0_r. apply Sum_0. intros i hi. unfold kron. destruct (Nat.eqb_spec d i); [lia|ring].
    + rewrite over_below, dot_kron by lia. ring.
Qed.
Lemma kept t : 0 <= t -> Sum (S d) (fun k => l (w t k)) = c.
Proof.
  intros ht. rewrite <- began. apply (law (fun t => Sum (S d) (fun k => l (w t k)))); [|exact ht]. intros r hr.
  assert (hT := total (w r) (fun k => within r k hr)). evar_last.
  - apply (Sum_derive (S d) (fun k t => l (w t k)) (fun k => over d (F (w r)) k * (over d (lam r) k * (if Nat.eqb k d then 0 else 1) - m r))). intros k hk.
    evar_last; [apply (d_comp l (fun t => w t k)); [apply l', within; assumption|apply moved; assumption]|]. cbv beta.
    rewrite (proj2 (over_F (w r) k (fun k => within r k hr) hk)). destruct (f' (w r k)) as [_ [_ hd]]; [auto|]. field. lra.
  - rewrite over_sum, Nat.eqb_refl. match goal with |- _ + ?x = 0 => replace x with (m r); [ring|] end. apply Sum_ext. intros i hi.
    rewrite over_below by exact hi. destruct (Nat.eqb_spec i d); [lia|ring].
Qed.
Lemma same t k : 0 <= t -> (k < S d)%nat -> u (F (w t)) k = w t k.
Proof. intros ht hk. apply known; [auto|apply kept, ht|exact hk]. Qed.
Let G b i := h (u b i) - h (u b d) - y_0 i.
Lemma excess b b' : P b -> P b' -> exists e, 0 <= e /\ (e = 0 -> agree d b b') /\
  q b' - dot d y_0 b' = q b - dot d y_0 b + dot d (G b) (fun i => b' i - b i) + e.
Proof.
  intros hb hb'. destruct (above b hb) as [hs [L A]]. destruct (above b' hb') as [hs' [L' A']].
  set (e := fun k => f (u b' k) * (h (u b' k) - h (u b k)) - (l (u b' k) - l (u b k))).
  assert (N : forall k, (k < S d)%nat -> 0 <= e k). { intros k hk. destruct (convex (u b k) (u b' k)) as [C _]; [apply A, hk|apply A', hk|]. unfold e. lra. }
  assert (E : Sum (S d) e = s b' * Sum (S d) (fun k => over d b' k * (h (u b' k) - h (u b k)))).
  { rewrite <- Sum_scal. transitivity (Sum (S d) e + (Sum (S d) (fun k => l (u b' k)) - Sum (S d) (fun k => l (u b k)))); [rewrite L, L'; ring|].
    rewrite <- Sum_minus, <- Sum_plus. apply Sum_ext. intros k hk. unfold e. rewrite (proj2 (A' k hk)). ring. }
  exists (Sum (S d) (fun k => over d b' k * (h (u b' k) - h (u b k)))). assert (hN := Sum_ge0 _ _ N). rewrite E in hN. split; [|split].
  - apply (Rmult_le_reg_l (s b')); lra.
  - intros Z. rewrite Z, Rmult_0_r in E.
    assert (U : forall k, (k < S d)%nat -> u b k = u b' k).
    { intros k hk. destruct (convex (u b k) (u b' k)) as [_ C]; [apply A, hk|apply A', hk|]. apply C. generalize (Sum_eq0 _ _ N E k hk). unfold e. lra. }
    assert (R : forall k, (k < S d)%nat -> over d b k * s b = over d b' k * s b').
    { intros k hk. rewrite <- (proj2 (A k hk)), <- (proj2 (A' k hk)), U by exact hk. reflexivity. }
    assert (one : forall b, Sum (S d) (fun k => over d b k * 1) = 1). { intros x. rewrite over_sum, Sum_0; [ring|]. intros; ring. }
    assert (ss : s b = s b').
    { transitivity (Sum (S d) (fun k => over d b k * s b)).
      - rewrite (Sum_ext _ _ (fun k => s b * (over d b k * 1))), Sum_scal, one by (intros; ring). ring.
      - rewrite (Sum_ext _ _ (fun k => s b' * (over d b' k * 1))), Sum_scal, one by (intros k hk; rewrite R by exact hk; ring). ring. }
    intros i hi. generalize (R i (Nat.lt_lt_succ_r _ _ hi)). rewrite !over_below, ss by exact hi. intros K. apply (Rmult_eq_reg_r (s b')); [exact K|lra].
  - rewrite !value by assumption. rewrite (over_sum d b' (fun k => h (u b' k) - h (u b k))), !over_sum. unfold G, dot.
    assert (D : forall x z : nat -> R, Sum d x - Sum d z = Sum d (fun i => x i - z i)) by (intros; symmetry; apply Sum_minus).
    apply Rminus_diag_uniq. ring_simplify.
    enough (W : Sum d (fun i => b' i * (h (u b' i) - h (u b' d)) - y_0 i * b' i - b i * (h (u b i) - h (u b d)) + y_0 i * b i
      - (h (u b i) - h (u b d) - y_0 i) * (b' i - b i) - b' i * (h (u b' i) - h (u b i) - (h (u b' d) - h (u b d)))) = 0).
    { rewrite !Sum_minus, Sum_plus, !Sum_minus in W. lra. }
    apply Sum_0. intros. ring.
Qed.
Theorem normalized : regularizes d P (fun b => q b - dot d y_0 b) (fun t => F (w t)) lam.
Proof.
  apply (mirror_regularizes d _ _ G _ (fun t i => h (w t i) - h (w t d) - y_0 i) lam (fun t => / T (w t))).
  - exact normal.
  - intros b hb v. evar_last; [apply (d_minus (fun s => q (fun i => b i + s * v i)) (fun s => dot d y_0 (fun i => b i + s * v i))); [exact (sloped b v hb)|]|].
    + apply (dot_derive d (fun s i => b i + s * v i)). intros i _. apply (line_derive b v i 0).
    + rewrite (over_slope d (fun k => h (u b k))). symmetry. apply (dot_minus d (fun i => h (u b i) - h (u b d)) y_0 v).
  - exact excess.
  - intros b x hb X i hi. unfold G. apply tends_minus; [apply tends_minus; apply steadied; auto; lia|apply tends_const].
  - intros t i ht hi. unfold G. rewrite !same by (auto; lia). reflexivity.
  - intros i hi. rewrite from by exact hi. ring.
  - intros t i ht hi. assert (hT := total (w t) (fun k => within t k ht)).
    assert (M : forall k, (k < S d)%nat -> is_derive (fun s => h (w s k)) t (/ T (w t) * (over d (lam t) k * (if Nat.eqb k d then 0 else 1) - m t))).
    { intros k hk. evar_last; [apply (d_comp h (fun s => w s k)); [apply h', within; assumption|apply moved; assumption]|].
      destruct (f' (w t k)) as [_ [_ hd]]; [auto|]. field. lra. }
    evar_last; [apply d_minus; [apply d_minus; apply M; lia|apply d_const]|]. cbv beta. rewrite Nat.eqb_refl, over_below by exact hi.
    destruct (Nat.eqb_spec i d); [lia|ring].
  - intros t ht. apply Rinv_0_lt_compat, total. auto.
Qed.
End Normalized.

(* softmax *)
Section Softmax.
Variables (d : nat) (w lam : R -> nat -> R).
Let n := INR (S d).
Let level b := (Sum (S d) (w 0) - Sum (S d) (fun k => ln (over d b k))) / n.
Hypothesis H : flow (S d) d (fun _ _ => 1) (fun v i => exp (v i) / Sum (S d) (fun k => exp (v k))) w lam.
Theorem softmax : regularizes d (fun b => forall k, (k < S d)%nat -> 0 < over d b k)
  (fun b => - n * exp (- level b) - dot d (fun i => - exp (- w 0 i) - - exp (- w 0 d)) b) (fun t i => exp (w t i) / Sum (S d) (fun k => exp (w t k))) lam.
Proof.
  assert (hn : 0 < n) by (apply lt_0_INR; lia).
  assert (D : forall x, is_derive (fun x => - exp (- x)) x (/ exp x)).
  { intros x. evar_last; [apply (d_opp (fun x => exp (- x))), (d_comp exp Ropp); [apply is_derive_exp|apply (d_opp (fun x => x)), d_id]|]. rewrite exp_Ropp. ring. }
  assert (slope : forall b k, 0 < over d b k -> - exp (- (ln (over d b k) + level b)) = - exp (- level b) / over d b k).
  { intros b k hk. rewrite Ropp_plus_distr, exp_plus, exp_Ropp, exp_ln by exact hk. unfold Rdiv. ring. }
  apply (normalized d exp exp (fun x => - exp (- x)) (fun x => x) (fun _ => True) (Sum (S d) (w 0)) (fun b k => ln (over d b k) + level b) (fun b => exp (level b)) (fun b => - n * exp (- level b))); auto.
  - intros x _. split; [apply is_derive_exp|split; apply exp_pos].
  - intros x _. replace (exp x / exp x) with 1; [apply d_id|]. field. apply Rgt_not_eq, exp_pos.
  - intros b hb. split; [apply exp_pos|]. split; [rewrite Sum_plus, Sum_const; fold n; unfold level; field; lra|].
    intros k hk. split; [exact I|]. rewrite exp_plus, exp_ln by (apply hb, hk). reflexivity.
  - intros v _ hv k hk. assert (L : forall k, (k < S d)%nat -> ln (over d (fun i => exp (v i) / Sum (S d) (fun k => exp (v k))) k) = v k - ln (Sum (S d) (fun k => exp (v k)))).
    { intros j hj. destruct (shares d (fun k => exp (v k)) j) as [hT ->]; [intros; apply exp_pos|exact hj|]. rewrite ln_div, ln_exp by (auto using exp_pos). reflexivity. }
    rewrite L by exact hk. unfold level. rewrite (Sum_ext _ _ _ L), (Sum_minus (S d) v), Sum_const. change (Sum (S d) v = Sum (S d) (w 0)) in hv. rewrite hv. fold n. field. lra.
  - intros b hb. rewrite (Sum_ext _ _ (fun _ => - exp (- level b))), Sum_const; [fold n; ring|].
    intros k hk. rewrite slope by (apply hb, hk). field. apply Rgt_not_eq, hb, hk.
  - intros b v hb. evar_last.
    + apply (d_scal (- n) (fun s => exp (- level (fun i => b i + s * v i)))), (d_comp exp); [apply is_derive_exp|]. apply (d_opp (fun s => level (fun i => b i + s * v i))).
      unfold level. apply d_over, (d_minus (fun _ => _)); [apply d_const|].
      apply (Sum_derive (S d) (fun k s => ln (over d (fun i => b i + s * v i) k)) (fun k => / over d b k * (if Nat.eqb k d then - Sum d v else v k))).
      intros k hk. apply (d_comp ln (fun s => over d (fun i => b i + s * v i) k)); [rewrite over_at; apply is_derive_ln, hb, hk|apply over_derive].
    + cbv beta. replace (level (fun i => b i + 0 * v i)) with (level b) by (unfold level; f_equal; f_equal; apply Sum_ext; intros; rewrite over_at; reflexivity).
      rewrite (Sum_ext _ (fun k => - exp _ * _) (fun k => - exp (- level b) * (/ over d b k * (if Nat.eqb k d then - Sum d v else v k)))).
      * rewrite Sum_scal. field. lra.
      * intros k hk. rewrite slope by (apply hb, hk). unfold Rdiv. ring.
  - intros b x hb X k hk. apply (tends_unary (fun z => - exp (- z)) (fun t => ln (over d (x t) k) + level (x t)) _ _ (D _)).
    assert (A : forall j, (j < S d)%nat -> tends (fun t => ln (over d (x t) j)) (ln (over d b j))).
    { intros j hj. apply (tends_unary ln (fun t => over d (x t) j) _ _ (is_derive_ln _ (hb j hj))), over_tends; assumption. }
    apply tends_plus; [apply A, hk|]. apply (tends_mult (fun t => Sum (S d) (w 0) - Sum (S d) (fun k => ln (over d (x t) k))) (fun _ => / n)); [|apply tends_const].
    apply (tends_minus (fun _ => Sum (S d) (w 0))); [apply tends_const|]. apply (tends_Sum (S d) (fun k t => ln (over d (x t) k))), A.
Qed.
End Softmax.
(* powers v^p of weights above 0, p > 0 other than 2 *)
Lemma Rpower_sqr x y : Rpower x y ^ 2 = Rpower x (2 * y).
Proof. unfold Rpower. simpl. rewrite Rmult_1_r, <- exp_plus. f_equal. ring. Qed.
Lemma Rpower_square x : 0 < x -> Rpower x 2 = x ^ 2.
Proof. intros h. rewrite <- (Rmult_1_r 2), <- Rpower_sqr, Rpower_1 by exact h. reflexivity. Qed.
Section Powers.
Variables (d : nat) (p : R) (w lam : R -> nat -> R).
Let c := Sum (S d) (fun k => w 0 k ^ 2).
Let N b := Sum (S d) (fun k => Rpower (over d b k) (2 / p)).
Let K := / (p * (2 - p)).
Hypothesis p_pos : 0 < p.
Hypothesis p_other : p <> 2.
Hypothesis H : flow (S d) d (fun _ _ => 1) (fun v i => Rpower (v i) p / Sum (S d) (fun k => Rpower (v k) p)) w lam.
Hypothesis positive : forall t k, 0 <= t -> (k < S d)%nat -> 0 < w t k.
Theorem powers : regularizes d (fun b => forall k, (k < S d)%nat -> 0 < over d b k)
  (fun b => Rpower c (1 - p / 2) * Rpower (N b) (p / 2) * K - dot d (fun i => Rpower (w 0 i) (2 - p) * K - Rpower (w 0 d) (2 - p) * K) b)
  (fun t i => Rpower (w t i) p / Sum (S d) (fun k => Rpower (w t k) p)) lam.
Proof.
  assert (R0 : forall x y, 0 < Rpower x y) by (intros; apply exp_pos).
  assert (some : forall z : nat -> R, (forall k, (k < S d)%nat -> 0 < z k) -> 0 < Sum (S d) z) by (intros z hz; apply (shares d z d hz); lia).
  assert (c0 : 0 < c) by (apply some; intros; apply pow_lt, positive; [lra|assumption]).
  assert (N0 : forall b, 0 < N b) by (intros; apply some; intros; apply R0).
  assert (q0 : forall b, 0 < c / N b) by (intros; apply Rdiv_lt_0_compat; auto).
  assert (hK : p * (2 - p) <> 0) by (apply Rmult_integral_contrapositive; split; lra).
  set (u b k := Rpower (c / N b) (/ 2) * Rpower (over d b k) (/ p)).
  assert (P : forall b k e, 0 < over d b k -> Rpower (u b k) e = Rpower (c / N b) (e / 2) * Rpower (over d b k) (e / p)).
  { intros b k e hk. unfold u. rewrite <- Rpower_mult_distr, !Rpower_mult by apply R0. f_equal; f_equal; field; lra. }
  assert (slope : forall b k, 0 < over d b k -> Rpower (u b k) (2 - p) * K = Rpower c (1 - p / 2) * Rpower (N b) (p / 2) / N b * K * (Rpower (over d b k) (2 / p) / over d b k)).
  { intros b k hk. rewrite P by exact hk. replace ((2 - p) / p) with (2 / p + - (1)) by (field; lra). rewrite Rpower_plus, (Rpower_Ropp (over d b k)), Rpower_1 by exact hk.
    replace (Rpower (c / N b) ((2 - p) / 2)) with (Rpower c (1 - p / 2) * Rpower (N b) (p / 2) / N b); [unfold Rdiv; ring|].
    change (c / N b) with (c * / N b). rewrite <- Rpower_mult_distr by (auto using Rinv_0_lt_compat). unfold Rdiv at 1. rewrite Rmult_assoc. f_equal; [f_equal; field|].
    rewrite <- (exp_ln (N b)) at 2 by auto. unfold Rpower. rewrite <- exp_Ropp, <- exp_plus, ln_Rinv by auto. f_equal. field. }
  apply (normalized d (fun x => Rpower x p) (fun x => p * Rpower x p / x) (fun x => Rpower x (2 - p) * K) (fun x => x ^ 2 / (2 * p)) (fun x => 0 < x) (c / (2 * p)) u (fun b => Rpower (c / N b) (p / 2))
    (fun b => Rpower c (1 - p / 2) * Rpower (N b) (p / 2) * K)); auto.
  - intros x hx. split; [apply d_Rpower, hx|]. split; [apply R0|]. apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat; auto|exact hx].
  - intros x hx. evar_last.
    + apply (d_mult (fun x => Rpower x (2 - p)) (fun _ => K)); [apply d_Rpower, hx|apply d_const].
    + unfold Rminus. rewrite Rpower_plus, Rpower_square, Rpower_Ropp by exact hx. unfold K. field. repeat split; try lra. apply Rgt_not_eq, R0.
  - intros x hx. evar_last; [apply d_over, (d_pow 1 2); reflexivity|]. simpl. field. repeat split; try lra. apply Rgt_not_eq, R0.
  - intros; lra.
  - unfold c. unfold Rdiv. rewrite (Rmult_comm (Sum _ _)), <- Sum_scal. apply Sum_ext. intros; ring.
  - intros b hb. split; [apply R0|]. split.
    + rewrite (Sum_ext _ _ (fun k => c / N b / (2 * p) * Rpower (over d b k) (2 / p))).
      * rewrite Sum_scal. fold (N b). field. split; [lra|apply Rgt_not_eq, N0].
      * intros k hk. rewrite <- Rpower_square by (apply Rmult_lt_0_compat; apply R0). fold (u b k). rewrite P by (apply hb, hk).
        replace (2 / 2) with 1 by field. rewrite Rpower_1 by auto. unfold Rdiv. ring.
    + intros k hk. split; [apply Rmult_lt_0_compat; apply R0|]. rewrite P by (apply hb, hk). replace (p / p) with 1 by (field; lra). rewrite Rpower_1 by (apply hb, hk). ring.
  - intros v hv hl k hk. set (T := Sum (S d) (fun k => Rpower (v k) p)). assert (hT : 0 < T) by (apply some; intros; apply R0).
    assert (L : forall k e, (k < S d)%nat -> Rpower (over d (fun i => Rpower (v i) p / T) k) e = Rpower (v k) (p * e) * Rpower T (- e)).
    { intros j e hj. unfold T. rewrite (proj2 (shares d (fun k => Rpower (v k) p) j (fun k _ => R0 _ _) hj)). fold T. unfold Rdiv.
      rewrite <- Rpower_mult_distr, Rpower_mult by (auto using Rinv_0_lt_compat). f_equal. unfold Rpower. rewrite ln_Rinv by exact hT. f_equal. ring. }
    assert (E : N (fun i => Rpower (v i) p / T) = Rpower T (- (2 / p)) * c).
    { unfold N. rewrite (Sum_ext _ _ (fun k => Rpower T (- (2 / p)) * (2 * p * (v k ^ 2 / (2 * p))))), Sum_scal, Sum_scal, hl; [field; lra|].
      intros j hj. rewrite L by exact hj. replace (p * (2 / p)) with 2 by (field; lra). rewrite Rpower_square by (apply hv, hj). field. lra. }
    unfold u. rewrite E, L by exact hk. replace (c / (Rpower T (- (2 / p)) * c)) with (Rpower T (2 / p)).
    + rewrite Rpower_mult. replace (p * / p) with 1 by (field; lra). rewrite Rpower_1 by (apply hv, hk).
      replace (2 / p * / 2) with (/ p) by (field; lra). rewrite Rpower_Ropp. field. apply Rgt_not_eq, R0.
    + rewrite Rpower_Ropp. field. split; first [apply Rgt_not_eq, R0|lra].
  - intros b hb. rewrite (Sum_ext _ _ (fun k => Rpower c (1 - p / 2) * Rpower (N b) (p / 2) / N b * K * Rpower (over d b k) (2 / p))).
    + rewrite Sum_scal. fold (N b). field. apply Rgt_not_eq, N0.
    + intros k hk. rewrite slope by (apply hb, hk). field. split; [apply Rgt_not_eq, N0|apply Rgt_not_eq, hb, hk].
  - intros b v hb. evar_last.
    + apply (d_mult (fun s => Rpower c (1 - p / 2) * Rpower (N (fun i => b i + s * v i)) (p / 2)) (fun _ => K)); [|apply d_const].
      apply d_scal, (d_comp (fun x => Rpower x (p / 2)) (fun s => N (fun i => b i + s * v i))); [apply d_Rpower, N0|].
      apply (Sum_derive (S d) (fun k s => Rpower (over d (fun i => b i + s * v i) k) (2 / p))
        (fun k => 2 / p * Rpower (over d b k) (2 / p) / over d b k * (if Nat.eqb k d then - Sum d v else v k))).
      intros k hk. apply (d_comp (fun x => Rpower x (2 / p)) (fun s => over d (fun i => b i + s * v i) k)); [rewrite over_at; apply d_Rpower, hb, hk|apply over_derive].
    + cbv beta. replace (N (fun i => b i + 0 * v i)) with (N b) by (apply Sum_ext; intros; rewrite over_at; reflexivity).
      rewrite Rmult_0_r, Rplus_0_r, (Rmult_comm _ K), <- !Sum_scal. apply Sum_ext. intros k hk. rewrite slope by (apply hb, hk). field.
      repeat split; [apply Rgt_not_eq, hb, hk|apply Rgt_not_eq, N0|lra].
  - intros b x hb X k hk. apply (tends_mult (fun t => Rpower (u (x t) k) (2 - p)) (fun _ => K)); [|apply tends_const].
    assert (O : forall j e, (j < S d)%nat -> tends (fun t => Rpower (over d (x t) j) e) (Rpower (over d b j) e)).
    { intros j e hj. apply (tends_unary (fun z => Rpower z e) (fun t => over d (x t) j) _ _ (d_Rpower e _ (hb j hj))), over_tends; assumption. }
    apply (tends_unary (fun z => Rpower z (2 - p)) (fun t => u (x t) k) _ _ (d_Rpower (2 - p) (u b k) (Rmult_lt_0_compat _ _ (R0 _ _) (R0 _ _)))).
    apply tends_mult; [|apply O, hk]. apply (tends_unary (fun z => Rpower z (/ 2)) (fun t => c / N (x t)) _ _ (d_Rpower (/ 2) _ (q0 b))).
    apply (tends_mult (fun _ => c) (fun t => / N (x t))); [apply tends_const|].
    apply (tends_unary Rinv (fun t => N (x t)) _ _ (d_inv (N b) (Rgt_not_eq _ _ (N0 b)))), (tends_Sum (S d) (fun k t => Rpower (over d (x t) k) (2 / p))). intros; apply O; assumption.
Qed.
End Powers.
