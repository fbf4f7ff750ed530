(* The general library: what every generated file uses.  No axioms beyond those of the reals. *)
From Coq Require Import Reals Lra Lia Psatz Classical Ranalysis5.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.
(* Coquelicot's algebra, read as that of R *)
Ltac as_R := unfold plus, minus, opp, scal, mult, zero, one in *; simpl in *; unfold plus, minus, opp, mult in *; simpl in *;
  match goal with |- @eq _ ?a ?b => change (@eq R a b) end.
(* ------------------------------------------------------------------ *)
(* Finite sums: vectors are functions nat -> R, read below their length *)

Fixpoint Sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S m => Sum m f + f m end.

Lemma Sum_ext n f h : (forall i, (i < n)%nat -> f i = h i) -> Sum n f = Sum n h.
Proof. induction n as [|n IH]; intros H; simpl; [reflexivity|]. rewrite IH, H; auto. Qed.
Lemma Sum_0 n : Sum n (fun _ => 0) = 0.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma Sum_plus n f h : Sum n (fun i => f i + h i) = Sum n f + Sum n h.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma Sum_minus n f h : Sum n (fun i => f i - h i) = Sum n f - Sum n h.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma Sum_scal n c f : Sum n (fun i => c * f i) = c * Sum n f.
Proof. induction n as [|n IH]; simpl; [|rewrite IH]; ring. Qed.
Lemma Sum_swap n m f : Sum n (fun i => Sum m (fun j => f i j)) = Sum m (fun j => Sum n (fun i => f i j)).
Proof. induction n as [|n IH]; simpl; [rewrite Sum_0; reflexivity|]. rewrite IH, Sum_plus. reflexivity. Qed.
Lemma Sum_ge0 n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= Sum n f.
Proof. induction n as [|n IH]; intros H; simpl; [lra|]. apply Rplus_le_le_0_compat; auto. Qed.
Lemma Sum_eq0 n f : (forall i, (i < n)%nat -> 0 <= f i) -> Sum n f = 0 -> forall i, (i < n)%nat -> f i = 0.
Proof.
  induction n as [|n IH]; intros H E i hi; [lia|]. simpl in E.
  assert (0 <= Sum n f) by (apply Sum_ge0; auto). assert (0 <= f n) by auto.
  destruct (Nat.eq_dec i n) as [->|]; [lra|]. apply IH; auto; [lra|lia].
Qed.
Lemma Sum_delta n c k : (k < n)%nat -> Sum n (fun i => if Nat.eqb i k then c i else 0) = c k.
Proof.
  induction n as [|n IH]; intros hk; [lia|]. simpl. destruct (Nat.eqb_spec n k) as [->|hn].
  - rewrite (Sum_ext k _ (fun _ => 0)), Sum_0; [ring|]. intros i hi. destruct (Nat.eqb_spec i k); [lia|reflexivity].
  - rewrite IH by lia. ring.
Qed.
Definition kron (i j : nat) : R := if Nat.eqb i j then 1 else 0.
Lemma Sum_derive n (f : nat -> R -> R) l x :
  (forall i, (i < n)%nat -> is_derive (f i) x (l i)) -> is_derive (fun t => Sum n (fun i => f i t)) x (Sum n l).
Proof.
  induction n as [|n IH]; intros H; simpl. { apply @is_derive_const. }
  apply @is_derive_plus; auto.
Qed.
(* ------------------------------------------------------------------ *)
(* (a) laws *)

Lemma rises (f f' : R -> R) : (forall t, 0 <= t -> is_derive f t (f' t)) -> (forall t, 0 <= t -> 0 <= f' t) ->
  forall t, 0 <= t -> f 0 <= f t.
Proof.
  intros H P t ht. destruct (MVT_gen f 0 t f') as [c [hc E]]; rewrite ?Rmin_left, ?Rmax_right in * by lra.
  - intros x hx. apply H; lra.
  - intros x hx. apply continuity_pt_filterlim, @ex_derive_continuous. exists (f' x). apply H; lra.
  - assert (0 <= f' c) by (apply P; lra). nra.
Qed.

Lemma law (f : R -> R) : (forall t, 0 <= t -> is_derive f t 0) -> forall t, 0 <= t -> f t = f 0.
Proof.
  intros H t ht. destruct (MVT_gen f 0 t (fun _ => 0)) as [c [hc E]]; rewrite ?Rmin_left, ?Rmax_right in * by lra.
  - intros x hx. apply H; lra.
  - intros x hx. apply continuity_pt_filterlim, @ex_derive_continuous. exists 0. apply H; lra.
  - lra.
Qed.

(* w' = c w, c continuous: w keeps its sign *)
Lemma keeps_sign (w c : R -> R) : (forall t, 0 <= t -> is_derive w t (c t * w t)) ->
  (forall t, 0 <= t -> continuous c t) -> 0 < w 0 -> forall t, 0 <= t -> 0 < w t.
Proof.
  (* c may be wild before 0: use c (max 0) *)
  intros H C P t ht. set (e := fun t => c (Rmax 0 t)).
  assert (Ce : forall x, continuous e x).
  { intros x. destruct (Rle_lt_dec 0 x) as [hx|hx].
    - apply (continuous_comp (fun t => Rmax 0 t) c); [|rewrite Rmax_right by lra; auto].
      intros Pr HP. rewrite Rmax_right in HP by lra. destruct HP as [eps He]. exists eps. intros y hy. apply He.
      unfold ball in *; simpl in *; unfold AbsRing_ball, abs, minus, plus, opp in *; simpl in *.
      unfold Rmax. destruct (Rle_dec 0 y); [exact hy|]. apply Rabs_def2 in hy. apply Rabs_def1; lra.
    - apply (continuous_ext_loc _ (fun _ => c 0)); [|apply continuous_const].
      assert (h0 : 0 < - x) by lra. exists (mkposreal _ h0). intros y hy. unfold e.
      unfold ball in hy; simpl in hy; unfold AbsRing_ball, abs, minus, plus, opp in hy; simpl in hy.
      apply Rabs_def2 in hy. rewrite Rmax_left by lra. reflexivity. }
  assert (D : forall x, is_derive (fun t => RInt e 0 t) x (e x)).
  { intros x. apply (is_derive_RInt e (fun t => RInt e 0 t) 0 x).
    - apply filter_forall. intros y. apply @RInt_correct. apply (ex_RInt_continuous e). intros; apply Ce.
    - apply Ce. }
  assert (L : w t * exp (- RInt e 0 t) = w 0 * exp (- RInt e 0 0)).
  { apply (law (fun t => w t * exp (- RInt e 0 t))); [|exact ht]. intros x hx. evar_last.
    - apply @is_derive_mult; [apply H; exact hx| |intros; apply Rmult_comm].
      apply (is_derive_comp exp (fun t => - RInt e 0 t)); [apply is_derive_exp|].
      apply @is_derive_opp. apply D.
    - unfold e; rewrite Rmax_right by lra. as_R; ring. }
  rewrite RInt_point in L. unfold zero in L; simpl in L. rewrite Ropp_0, exp_0 in L.
  assert (0 < exp (- RInt e 0 t)) by apply exp_pos. nra.
Qed.
(* ------------------------------------------------------------------ *)
(* (b) multipliers *)

(* A vector orthogonal to the kernel of X is a combination of the rows of X. *)
Lemma multipliers d n (X : nat -> nat -> R) (p : nat -> R) :
  (forall v, (forall j, (j < n)%nat -> Sum d (fun i => X j i * v i) = 0) -> Sum d (fun i => p i * v i) = 0) ->
  exists nu : nat -> R, forall i, (i < d)%nat -> p i = Sum n (fun j => X j i * nu j).
Proof.
  revert p. induction n as [|n IH]; intros p H.
  - exists (fun _ => 0). intros i hi. simpl. assert (p i * p i = 0); [|nra].
    apply (Sum_eq0 d (fun i => p i * p i)); [intros; nra|apply H; intros; lia|exact hi].
  - destruct (classic (exists v, (forall j, (j < n)%nat -> Sum d (fun i => X j i * v i) = 0) /\ Sum d (fun i => X n i * v i) <> 0))
      as [[v0 [K0 N0]]|N].
    + set (c := Sum d (fun i => p i * v0 i) / Sum d (fun i => X n i * v0 i)).
      destruct (IH (fun i => p i - c * X n i)) as [nu E].
      * intros v K. set (e := Sum d (fun i => X n i * v i) / Sum d (fun i => X n i * v0 i)).
        assert (L : forall z : nat -> R, Sum d (fun i => z i * (v i - e * v0 i)) = Sum d (fun i => z i * v i) - e * Sum d (fun i => z i * v0 i)).
        { intros z. rewrite <- Sum_scal, <- Sum_minus. apply Sum_ext; intros; ring. }
        assert (P : Sum d (fun i => p i * (v i - e * v0 i)) = 0).
        { apply H. intros j hj. rewrite L. destruct (Nat.eq_dec j n) as [->|hn].
          - unfold e. field. exact N0.
          - rewrite K, K0 by lia. ring. }
        rewrite L in P.
        rewrite (Sum_ext d _ (fun i => p i * v i - c * (X n i * v i))) by (intros; ring).
        rewrite Sum_minus, Sum_scal. unfold c, e in *. 
        replace (Sum d (fun i => p i * v i)) with (Sum d (fun i => X n i * v i) / Sum d (fun i => X n i * v0 i) * Sum d (fun i => p i * v0 i)) by lra.
        field. exact N0.
      * exists (fun j => if Nat.eqb j n then c else nu j). intros i hi. simpl. rewrite Nat.eqb_refl.
        rewrite (Sum_ext n _ (fun j => X j i * nu j)).
        { specialize (E i hi). simpl in E. lra. }
        intros j hj. destruct (Nat.eqb_spec j n); [lia|reflexivity].
    + destruct (IH p) as [nu E].
      * intros v K. apply H. intros j hj. destruct (Nat.eq_dec j n) as [->|]; [|apply K; lia].
        apply NNPP. intros Z. apply N. exists v. auto.
      * exists (fun j => if Nat.eqb j n then 0 else nu j). intros i hi. simpl. rewrite Nat.eqb_refl, E by exact hi.
        rewrite (Sum_ext n (fun j => X j i * (if Nat.eqb j n then 0 else nu j)) (fun j => X j i * nu j)); [ring|].
        intros j hj. destruct (Nat.eqb_spec j n); [lia|reflexivity].
Qed.
(* ------------------------------------------------------------------ *)
(* What is claimed.  Only these definitions have to be read. *)

Definition agree d (b c : nat -> R) := forall i, (i < d)%nat -> b i = c i.
Definition dot d (x y : nat -> R) := Sum d (fun i => x i * y i).
Definition tends (f : R -> R) (l : R) := is_lim f p_infty l.

(* p is the gradient of Q at b: the derivative along every line *)
Definition gradient d (Q : (nat -> R) -> R) (b p : nat -> R) :=
  forall v, is_derive (fun s => Q (fun i => b i + s * v i)) 0 (dot d p v).

(* b is the minimiser of Q on dom among those with the same predictions on the rows of X *)
Definition minimiser d n (X : nat -> nat -> R) (dom : (nat -> R) -> Prop) (Q : (nat -> R) -> R) (b : nat -> R) :=
  forall c, dom c -> (forall j, (j < n)%nat -> dot d (X j) c = dot d (X j) b) ->
  Q b <= Q c /\ (Q c = Q b -> agree d b c).

(* Q has a gradient G on dom that is 0 at the start of beta and moves with g times the steering lam *)
Definition follows_mirror d (dom : (nat -> R) -> Prop) (Q : (nat -> R) -> R) (beta lam : R -> nat -> R) :=
  exists (G : (nat -> R) -> nat -> R) (g : R -> R),
    (forall b, dom b -> gradient d Q b (G b)) /\ (forall i, (i < d)%nat -> G (beta 0) i = 0) /\
    (forall t, 0 <= t -> 0 < g t) /\
    (forall t i, 0 < t -> (i < d)%nat -> is_derive (fun s => G (beta s) i) t (g t * lam t i)).
(* beta moves with the steering lam; Q is its implicit regularizer *)
Record regularizes d (dom : (nat -> R) -> Prop) (Q : (nat -> R) -> R) (beta lam : R -> nat -> R) : Prop := {
  mirror_law : follows_mirror d dom Q beta lam;
  at_times : forall n X r, (forall t i, 0 <= t -> (i < d)%nat -> lam t i = Sum n (fun j => X j i * r t j)) ->
    forall t, 0 <= t -> minimiser d n X dom Q (beta t);
  at_limit : forall n X r, (forall t i, 0 <= t -> (i < d)%nat -> lam t i = Sum n (fun j => X j i * r t j)) ->
    forall b, dom b -> (forall i, (i < d)%nat -> tends (fun t => beta t i) (b i)) ->
    minimiser d n X dom Q b /\
    exists nu, forall p, gradient d Q b p -> forall i, (i < d)%nat -> p i = Sum n (fun j => X j i * nu j);
  at_margins : forall n X r, (forall t i, 0 <= t -> (i < d)%nat -> lam t i = Sum n (fun j => X j i * r t j)) ->
    (forall t j, 0 <= t -> (j < n)%nat -> 0 <= r t j) ->
    forall t, 0 <= t -> forall c, dom c -> (forall j, (j < n)%nat -> dot d (X j) (beta t) <= dot d (X j) c) ->
    Q (beta t) <= Q c
}.

Definition upd (w : nat -> R) k x := fun k' => if Nat.eqb k' k then x else w k'.
Definition partial (F : (nat -> R) -> R) k (w : nat -> R) l := is_derive (fun x => F (upd w k x)) (w k) l.
(* the flow of F: R^p -> R^d with rates of the weights (1 where none are given), and continuous steering: w' = rate J^T lam *)
Definition flow p d (rate : nat -> (nat -> R) -> R) (F : (nat -> R) -> nat -> R) (w lam : R -> nat -> R) :=
  (forall t i, 0 <= t -> (i < d)%nat -> continuous (fun s => lam s i) t) /\
  forall t k, 0 <= t -> (k < p)%nat -> exists J, (forall i, (i < d)%nat -> partial (fun v => F v i) k (w t) (J i)) /\
    is_derive (fun s => w s k) t (rate k (w t) * dot d J (lam t)).
Definition tail (m : nat) (w : nat -> R) (i : nat) := w (m + i)%nat.
(* d copies of one output F: R^p -> R, copy i with weights w t i k *)
Definition flows p d rate (F : (nat -> R) -> R) (w : R -> nat -> nat -> R) (lam : R -> nat -> R) :=
  forall i, (i < d)%nat -> flow p 1 rate (fun v _ => F v) (fun t => w t i) (fun t _ => lam t i).
(* ------------------------------------------------------------------ *)
(* (c), (d), (e): what has to be shown of a model *)

Record mirror d (dom : (nat -> R) -> Prop) (Q : (nat -> R) -> R) (G : (nat -> R) -> nat -> R) (beta y lam : R -> nat -> R) (g : R -> R) : Prop := {
  m_dom : forall t, 0 <= t -> dom (beta t);
  m_gradient : forall b, dom b -> gradient d Q b (G b);
  m_bregman : forall b c, dom b -> dom c -> Q b + dot d (G b) (fun i => c i - b i) <= Q c;
  m_strict : forall b c, dom b -> dom c -> Q c = Q b + dot d (G b) (fun i => c i - b i) -> agree d b c;
  m_continuous : forall b f, dom b -> (forall i, (i < d)%nat -> tends (fun t => f t i) (b i)) ->
    forall i, (i < d)%nat -> tends (fun t => G (f t) i) (G b i);
  m_dual : forall t i, 0 <= t -> (i < d)%nat -> G (beta t) i = y t i - y 0 i;
  m_law : forall t i, 0 <= t -> (i < d)%nat -> is_derive (fun s => y s i) t (g t * lam t i);
  m_positive : forall t, 0 <= t -> 0 < g t
}.

Lemma tends_unique f l l' : tends f l -> tends f l' -> l = l'.
Proof. intros H H'. apply is_lim_unique in H. apply is_lim_unique in H'. rewrite H in H'. congruence. Qed.
Lemma tends_const c : tends (fun _ => c) c.
Proof. apply is_lim_const. Qed.
Lemma tends_plus f h l m : tends f l -> tends h m -> tends (fun t => f t + h t) (l + m).
Proof. intros. apply is_lim_plus'; assumption. Qed.
Lemma tends_mult f h l m : tends f l -> tends h m -> tends (fun t => f t * h t) (l * m).
Proof. intros. apply (is_lim_mult f h p_infty l m); simpl; auto. Qed.
Lemma tends_comp (u : R -> R) f l : continuous u l -> tends f l -> tends (fun t => u (f t)) (u l).
Proof. intros C H. apply (is_lim_comp_continuous f u p_infty l); assumption. Qed.
Lemma tends_Sum n (f : nat -> R -> R) l : (forall i, (i < n)%nat -> tends (f i) (l i)) -> tends (fun t => Sum n (fun i => f i t)) (Sum n l).
Proof. induction n as [|n IH]; intros H; simpl; [apply tends_const|apply tends_plus; auto]. Qed.

Section Core.
Variables (d : nat) (dom : (nat -> R) -> Prop) (Q : (nat -> R) -> R) (G : (nat -> R) -> nat -> R).
Variables (beta y lam : R -> nat -> R) (g : R -> R).
Hypothesis M : mirror d dom Q G beta y lam g.

Lemma along v t : 0 <= t -> is_derive (fun s => dot d (y s) v) t (g t * dot d (lam t) v).
Proof.
  intros ht. evar_last. { apply (Sum_derive d (fun i s => y s i * v i) (fun i => g t * lam t i * v i)).
  intros i hi. apply (is_derive_scal_l (fun s => y s i) t _ (v i)). apply (m_law _ _ _ _ _ _ _ _ M); assumption. }
  unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros; as_R; ring.
Qed.

Lemma dual v t : 0 <= t -> dot d (G (beta t)) v = dot d (y t) v - dot d (y 0) v.
Proof.
  intros ht. unfold dot. rewrite <- Sum_minus. apply Sum_ext. intros i hi.
  rewrite (m_dual _ _ _ _ _ _ _ _ M t i ht hi). ring.
Qed.

Lemma rows n X r v t : (forall t i, 0 <= t -> (i < d)%nat -> lam t i = Sum n (fun j => X j i * r t j)) ->
  0 <= t -> dot d (lam t) v = Sum n (fun j => r t j * dot d (X j) v).
Proof.
  intros H ht. unfold dot. rewrite (Sum_ext d _ (fun i => Sum n (fun j => r t j * (X j i * v i)))).
  - rewrite Sum_swap. apply Sum_ext. intros j _. rewrite Sum_scal. reflexivity.
  - intros i hi. rewrite H by assumption. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext; intros; ring.
Qed.

(* the gradient is orthogonal to what no row sees *)
Lemma orthogonal n X r v : (forall t i, 0 <= t -> (i < d)%nat -> lam t i = Sum n (fun j => X j i * r t j)) ->
  (forall j, (j < n)%nat -> dot d (X j) v = 0) -> forall t, 0 <= t -> dot d (G (beta t)) v = 0.
Proof.
  intros H K t ht. rewrite dual by exact ht.
  rewrite (law (fun s => dot d (y s) v)); [ring| |exact ht]. intros s hs. evar_last; [apply along; exact hs|].
  rewrite (rows n X r) by assumption. rewrite (Sum_ext n _ (fun _ => 0)), Sum_0; [ring|].
  intros j hj. rewrite K by exact hj. ring.
Qed.

Lemma kkt n X b : dom b -> (forall v, (forall j, (j < n)%nat -> dot d (X j) v = 0) -> dot d (G b) v = 0) ->
  minimiser d n X dom Q b.
Proof.
  intros hb H c hc E.
  assert (Z : dot d (G b) (fun i => c i - b i) = 0).
  { apply H. intros j hj. specialize (E j hj). unfold dot in *.
    rewrite (Sum_ext d _ (fun i => X j i * c i - X j i * b i)), Sum_minus by (intros; ring). lra. }
  generalize (m_bregman _ _ _ _ _ _ _ _ M b c hb hc) (m_strict _ _ _ _ _ _ _ _ M b c hb hc). rewrite Z, Rplus_0_r. auto.
Qed.

Lemma gradient_unique b p p' : gradient d Q b p -> gradient d Q b p' -> agree d p p'.
Proof.
  intros H H' i hi. set (e := fun k => if Nat.eqb k i then 1 else 0).
  assert (E : forall z, dot d z e = z i).
  { intros z. unfold dot. rewrite (Sum_ext d _ (fun k => if Nat.eqb k i then z k else 0)), Sum_delta by
      (try exact hi; intros k _; unfold e; destruct (Nat.eqb k i); ring). reflexivity. }
  rewrite <- (E p), <- (E p'). specialize (H e). specialize (H' e).
  apply is_derive_unique in H. apply is_derive_unique in H'. congruence.
Qed.

Theorem mirror_regularizes : regularizes d dom Q beta lam.
Proof.
  constructor.
  - exists G, g. split; [apply (m_gradient _ _ _ _ _ _ _ _ M)|]. split.
    { intros i hi. rewrite (m_dual _ _ _ _ _ _ _ _ M 0 i) by (lra || exact hi). ring. }
    split; [apply (m_positive _ _ _ _ _ _ _ _ M)|]. intros t i ht hi.
    apply (is_derive_ext_loc (fun s => y s i - y 0 i)).
    + exists (mkposreal t ht). intros s hs. symmetry. apply (m_dual _ _ _ _ _ _ _ _ M); [|exact hi].
      unfold ball in hs; simpl in hs. unfold AbsRing_ball, abs, minus, plus, opp in hs; simpl in hs.
      apply Rabs_def2 in hs. lra.
    + evar_last. { apply @is_derive_minus; [apply (m_law _ _ _ _ _ _ _ _ M); [lra|exact hi]|apply @is_derive_const]. }
      as_R; ring.
  - intros n X r H t ht. apply kkt; [apply (m_dom _ _ _ _ _ _ _ _ M); exact ht|].
    intros v K. apply (orthogonal n X r); assumption.
  - intros n X r H b hb L.
    assert (O : forall v, (forall j, (j < n)%nat -> dot d (X j) v = 0) -> dot d (G b) v = 0).
    { intros v K. apply (tends_unique (fun t => dot d (G (beta t)) v)).
      - apply (tends_Sum d (fun i t => G (beta t) i * v i)). intros i hi. apply tends_mult; [|apply tends_const].
        apply (m_continuous _ _ _ _ _ _ _ _ M); assumption.
      - apply (is_lim_ext_loc (fun _ => 0)); [|apply is_lim_const]. exists 0. intros t ht.
        symmetry. apply (orthogonal n X r); [assumption|assumption|lra]. }
    split; [apply kkt; assumption|].
    destruct (multipliers d n X (G b) O) as [nu E]. exists nu. intros p P i hi.
    rewrite (gradient_unique b p (G b) P (m_gradient _ _ _ _ _ _ _ _ M b hb) i hi). apply E; exact hi.
  - intros n X r H P t ht c hc C.
    apply Rle_trans with (2 := m_bregman _ _ _ _ _ _ _ _ M (beta t) c (m_dom _ _ _ _ _ _ _ _ M t ht) hc).
    set (v := fun i => c i - beta t i). enough (0 <= dot d (G (beta t)) v) by lra.
    rewrite dual by exact ht. 
    enough (dot d (y 0) v <= dot d (y t) v) by lra.
    apply (rises (fun s => dot d (y s) v) (fun s => g s * dot d (lam s) v)); [intros; apply along; assumption| |exact ht].
    intros s hs. apply Rmult_le_pos; [left; apply (m_positive _ _ _ _ _ _ _ _ M); exact hs|].
    rewrite (rows n X r) by assumption. apply Sum_ge0. intros j hj. apply Rmult_le_pos; [apply P; assumption|].
    specialize (C j hj). unfold v, dot in *. rewrite (Sum_ext d _ (fun i => X j i * c i - X j i * beta t i)), Sum_minus by (intros; ring). lra.
Qed.
End Core.

(* the squared loss: the limit, where it interpolates, is the minimiser among what interpolates *)
Corollary squared_loss d dom Q beta lam : regularizes d dom Q beta lam -> forall n X (target : nat -> R) b,
  (forall t i, 0 <= t -> (i < d)%nat -> lam t i = Sum n (fun j => X j i * (target j - dot d (X j) (beta t)))) ->
  dom b -> (forall i, (i < d)%nat -> tends (fun t => beta t i) (b i)) -> (forall j, (j < n)%nat -> dot d (X j) b = target j) ->
  forall c, dom c -> (forall j, (j < n)%nat -> dot d (X j) c = target j) -> Q b <= Q c /\ (Q c = Q b -> agree d b c).
Proof.
  intros R n X target b L hb T E c hc E'.
  destruct (at_limit _ _ _ _ _ R n X (fun t j => target j - dot d (X j) (beta t)) L b hb T) as [M _].
  apply M; [exact hc|]. intros j hj. rewrite E, E' by exact hj. reflexivity.
Qed.
(* ------------------------------------------------------------------ *)
(* One output: Q' = q, q' = k > 0, k K = 1 *)

Section One.
Variables (I : R -> Prop) (q dq k : R -> R).
Hypothesis convex : forall x y z, I x -> I y -> x <= z <= y -> I z.
Hypothesis q' : forall x, I x -> is_derive q x (dq x).
Hypothesis dq' : forall x, I x -> is_derive dq x (k x).
Hypothesis positive : forall x, I x -> 0 < k x.

Lemma increasing x y : I x -> I y -> x < y -> dq x < dq y.
Proof.
  intros hx hy h. destruct (MVT_gen dq x y k) as [c [hc E]]; rewrite ?Rmin_left, ?Rmax_right in * by lra.
  - intros z hz. apply dq'. apply (convex x y); [assumption|assumption|lra].
  - intros z hz. apply continuity_pt_filterlim, @ex_derive_continuous. exists (k z). apply dq'. apply (convex x y); assumption.
  - assert (0 < k c) by (apply positive, (convex x y); assumption). nra.
Qed.

Lemma bregman_one x y : I x -> I y -> x <> y -> q x + dq x * (y - x) < q y.
Proof.
  intros hx hy n. 
  assert (S : forall x y, I x -> I y -> x <> y -> exists c, Rmin x y <= c <= Rmax x y /\ q y - q x = dq c * (y - x)).
  { clear x y hx hy n. intros x y hx hy n. 
    assert (J : forall z, Rmin x y <= z <= Rmax x y -> I z).
    { intros z. unfold Rmin, Rmax. destruct (Rle_dec x y); intros; [apply (convex x y)|apply (convex y x)]; assumption. }
    destruct (MVT_gen q x y dq) as [c hc]; [| |exists c; exact hc].
    - intros z hz. apply q', J. lra.
    - intros z hz. apply continuity_pt_filterlim, @ex_derive_continuous. exists (dq z). apply q', J, hz. }
  set (m := (x + y) / 2).
  destruct (Rlt_le_dec x y) as [h|h].
  - assert (hm : I m) by (apply (convex x y); unfold m; try assumption; lra).
    destruct (S x m hx hm ltac:(unfold m; lra)) as [c [hc E]]. destruct (S m y hm hy ltac:(unfold m; lra)) as [e [he E']].
    rewrite Rmin_left, Rmax_right in * by (unfold m; lra).
    assert (dq x <= dq c). { destruct (Req_dec x c) as [<-|]; [lra|]. left; apply increasing; [assumption|apply (convex x m); assumption|lra]. }
    assert (dq x < dq e). { apply increasing; [assumption|apply (convex m y); assumption|unfold m in *; lra]. }
    unfold m in *. nra.
  - assert (hm : I m) by (apply (convex y x); unfold m; try assumption; lra).
    destruct (S x m hx hm ltac:(unfold m; lra)) as [c [hc E]]. destruct (S m y hm hy ltac:(unfold m; lra)) as [e [he E']].
    rewrite Rmin_right, Rmax_left in * by (unfold m; lra).
    assert (dq c <= dq x). { destruct (Req_dec x c) as [<-|]; [lra|]. left; apply increasing; [apply (convex m x); assumption|assumption|lra]. }
    assert (dq e < dq x). { apply increasing; [apply (convex y m); assumption|assumption|unfold m in *; lra]. }
    unfold m in *. nra.
Qed.
End One.

(* Q is a sum over d coordinates X_j = <V_j, b>, which move by themselves with the steering mu: lam = V^T mu *)
Section Separable.
Variables (d : nat) (V : nat -> nat -> R) (X : nat -> (nat -> R) -> R) (I : nat -> R -> Prop) (q dq k : nat -> R -> R).
Variables (beta lam K mu : R -> nat -> R).
Hypothesis linear : forall j b, (j < d)%nat -> X j b = dot d (V j) b.
Hypothesis told : forall b c, (forall j, (j < d)%nat -> X j b = X j c) -> agree d b c.
Hypothesis steered : forall t i, 0 <= t -> (i < d)%nat -> lam t i = Sum d (fun j => V j i * mu t j).
Hypothesis convex : forall i x y z, (i < d)%nat -> I i x -> I i y -> x <= z <= y -> I i z.
Hypothesis q' : forall i x, (i < d)%nat -> I i x -> is_derive (q i) x (dq i x).
Hypothesis dq' : forall i x, (i < d)%nat -> I i x -> is_derive (dq i) x (k i x).
Hypothesis positive : forall i x, (i < d)%nat -> I i x -> 0 < k i x.
Hypothesis inside : forall t i, 0 <= t -> (i < d)%nat -> I i (X i (beta t)).
Hypothesis moves : forall t i, 0 <= t -> (i < d)%nat -> is_derive (fun s => X i (beta s)) t (K t i * mu t i).
Hypothesis inverse : forall t i, 0 <= t -> (i < d)%nat -> k i (X i (beta t)) * K t i = 1.
Hypothesis start : forall i, (i < d)%nat -> dq i (X i (beta 0)) = 0.

Theorem separable : regularizes d (fun b => forall j, (j < d)%nat -> I j (X j b)) (fun b => Sum d (fun j => q j (X j b))) beta lam.
Proof.
  set (G := fun b i => Sum d (fun j => V j i * dq j (X j b))).
  apply (mirror_regularizes d _ _ G beta (fun t => G (beta t)) lam (fun _ => 1)).
  assert (Gv : forall b v, dot d (G b) v = Sum d (fun j => dq j (X j b) * dot d (V j) v)).
  { intros b v. unfold dot, G. rewrite (Sum_ext d _ (fun i => Sum d (fun j => dq j (X j b) * (V j i * v i)))), Sum_swap.
    - apply Sum_ext. intros j hj. apply Sum_scal.
    - intros i hi. rewrite Rmult_comm, <- Sum_scal. apply Sum_ext. intros; ring. }
  assert (D : forall j b c, (j < d)%nat -> dot d (V j) (fun i => c i - b i) = X j c - X j b).
  { intros j b c hj. rewrite !linear by exact hj. unfold dot. rewrite <- Sum_minus. apply Sum_ext. intros; ring. }
  assert (B : forall b c i, (i < d)%nat -> I i (X i b) -> I i (X i c) -> 0 <= q i (X i c) - (q i (X i b) + dq i (X i b) * (X i c - X i b)) /\
     (q i (X i c) - (q i (X i b) + dq i (X i b) * (X i c - X i b)) = 0 -> X i b = X i c)).
  { intros b c i hi hb hc. destruct (Req_dec (X i b) (X i c)) as [E|N].
    - rewrite E. split; [lra|reflexivity].
    - generalize (bregman_one (I i) (q i) (dq i) (k i) (fun x y z => convex i x y z hi) (fun x => q' i x hi) (fun x => dq' i x hi)
        (fun x => positive i x hi) (X i b) (X i c) hb hc N). lra. }
  assert (E : forall b c, Sum d (fun i => q i (X i c)) - (Sum d (fun i => q i (X i b)) + dot d (G b) (fun i => c i - b i))
     = Sum d (fun i => q i (X i c) - (q i (X i b) + dq i (X i b) * (X i c - X i b)))).
  { intros. rewrite Gv, Sum_minus, Sum_plus. f_equal. f_equal. apply Sum_ext. intros j hj. rewrite D by exact hj. reflexivity. }
  constructor.
  - intros t ht i hi. apply inside; assumption.
  - intros b hb v. rewrite Gv. apply (Sum_derive d (fun i s => q i (X i (fun n => b n + s * v n)))). intros i hi.
    apply (is_derive_ext (fun s => q i (X i b + s * dot d (V i) v))).
    { intros s. rewrite !linear by exact hi. f_equal. unfold dot. rewrite <- Sum_scal, <- Sum_plus. apply Sum_ext. intros; ring. }
    evar_last.
    + apply (is_derive_comp (q i) (fun s => X i b + s * dot d (V i) v)).
      * rewrite Rmult_0_l, Rplus_0_r. apply q'; [exact hi|apply hb; exact hi].
      * auto_derive; [exact Logic.I|reflexivity].
    + as_R; ring.
  - intros b c hb hc.
    enough (0 <= Sum d (fun i => q i (X i c)) - (Sum d (fun i => q i (X i b)) + dot d (G b) (fun i => c i - b i))) by lra.
    rewrite E. apply Sum_ge0. intros i hi. apply B; auto.
  - intros b c hb hc h. apply told. intros i hi. apply (B b c i hi); auto.
    apply (Sum_eq0 d (fun i => q i (X i c) - (q i (X i b) + dq i (X i b) * (X i c - X i b)))); [intros; apply B; auto| |exact hi].
    rewrite <- E. lra.
  - intros b f hb L i hi. apply (tends_Sum d (fun j t => V j i * dq j (X j (f t)))). intros j hj. apply tends_mult; [apply tends_const|].
    apply (tends_comp (dq j)); [apply @ex_derive_continuous; exists (k j (X j b)); apply dq'; auto|]. rewrite linear by exact hj.
    apply (is_lim_ext (fun t => dot d (V j) (f t))); [intros; rewrite linear by exact hj; reflexivity|].
    apply (tends_Sum d (fun i t => V j i * f t i)). intros. apply tends_mult; [apply tends_const|auto].
  - intros t i ht hi. assert (Z : G (beta 0) i = 0); [|rewrite Z; ring]. unfold G.
    rewrite (Sum_ext d _ (fun _ => 0)), Sum_0; [reflexivity|]. intros j hj. rewrite start by exact hj. ring.
  - intros t i ht hi. rewrite Rmult_1_l, (steered t i ht hi). apply (Sum_derive d (fun j s => V j i * dq j (X j (beta s)))). intros j hj.
    evar_last.
    + apply (is_derive_scal (fun s => dq j (X j (beta s)))), (is_derive_comp (dq j) (fun s => X j (beta s))); [apply dq'; auto|apply moves; assumption].
    + as_R. replace (mu t j) with (k j (X j (beta t)) * K t j * mu t j) at 2 by (rewrite (inverse t j ht hj); ring). ring.
  - intros; lra.
Qed.
End Separable.
(* ------------------------------------------------------------------ *)
(* Curves: the inverse of an increasing h on an open interval, which is given by what holds on it *)

Definition inv (h : R -> R) (P : R -> Prop) (x : R) : R := real (Lub_Rbar (fun z => P z /\ h z <= x)).
Definition image (h : R -> R) (P : R -> Prop) (x : R) := exists z, P z /\ h z = x.

Section Inverse.
Variables (P : R -> Prop) (h h' : R -> R).
Hypothesis convex : forall x y z, P x -> P y -> x <= z <= y -> P z.
Hypothesis D : forall z, P z -> is_derive h z (h' z).
Hypothesis positive : forall z, P z -> 0 < h' z.

Lemma h_increasing x y : P x -> P y -> x < y -> h x < h y.
Proof. apply (increasing P h h'); auto. Qed.
Lemma inv_left z : P z -> inv h P (h z) = z.
Proof.
  intros hz. unfold inv. rewrite (is_lub_Rbar_unique _ z); [reflexivity|]. split.
  - intros y [hy E]. simpl. destruct (Rle_lt_dec y z); [assumption|]. generalize (h_increasing z y hz hy r). lra.
  - intros b hb. apply hb. split; [exact hz|lra].
Qed.
Lemma inv_right x : image h P x -> P (inv h P x) /\ h (inv h P x) = x.
Proof. intros [z [hz <-]]. rewrite inv_left by exact hz. auto. Qed.

Lemma image_convex x y z : image h P x -> image h P y -> x <= z <= y -> image h P z.
Proof.
  intros [a [ha <-]] [b [hb <-]] [h1 h2].
  destruct (Req_dec (h a) z) as [E|N]; [exists a; auto|]. destruct (Req_dec (h b) z) as [E|N']; [exists b; auto|].
  assert (a < b). { destruct (Rlt_le_dec a b) as [|[L|E]]; [assumption| |]; [|subst; lra]. generalize (h_increasing b a hb ha L). lra. }
  destruct (IVT_interv (fun t => h t - z) a b) as [c [hc E]]; [| exact H| lra| lra|].
  - intros t ht. apply continuity_pt_filterlim. apply (continuous_minus h (fun _ => z)); [|apply continuous_const].
    apply @ex_derive_continuous. exists (h' t). apply D, (convex a b); assumption.
  - exists c. split; [apply (convex a b); assumption|lra].
Qed.
Lemma image_all : (forall x, exists a, P a /\ h a <= x) -> (forall x, exists b, P b /\ x <= h b) -> forall x, image h P x.
Proof. intros A B x. destruct (A x) as [a [? ?]]. destruct (B x) as [b [? ?]]. apply (image_convex (h a) (h b)); [exists a|exists b|]; auto. Qed.

Hypothesis opened : forall z, P z -> locally z P.
Lemma surrounded z : P z -> exists a b, P a /\ P b /\ a < z < b.
Proof.
  intros hz. destruct (opened z hz) as [[e he] H]. exists (z - e / 2), (z + e / 2).
  split; [|split; [|lra]]; apply H; unfold ball; simpl; unfold AbsRing_ball, abs, minus, plus, opp; simpl; apply Rabs_def1; lra.
Qed.
Lemma image_open x : image h P x -> locally x (image h P).
Proof.
  intros [z [hz <-]]. destruct (surrounded z hz) as [a [b [ha [hb [h1 h2]]]]].
  generalize (h_increasing a z ha hz h1) (h_increasing z b hz hb h2). intros l u.
  assert (e : 0 < Rmin (h z - h a) (h b - h z)) by (apply Rmin_pos; lra). exists (mkposreal _ e). intros y hy.
  unfold ball in hy; simpl in hy. unfold AbsRing_ball, abs, minus, plus, opp in hy; simpl in hy. apply Rabs_def2 in hy.
  generalize (Rmin_l (h z - h a) (h b - h z)) (Rmin_r (h z - h a) (h b - h z)). intros m1 m2.
  apply (image_convex (h a) (h b)); [exists a|exists b|lra]; auto.
Qed.

Lemma inv_derive x : image h P x -> is_derive (inv h P) x (/ h' (inv h P x)).
Proof.
  intros [z [hz <-]]. rewrite inv_left by exact hz. destruct (surrounded z hz) as [a [b [ha [hb [h1 h2]]]]].
  assert (B : forall t, a <= t <= b -> P t) by (intros; apply (convex a b); assumption).
  assert (Prf : forall t, inv h P (h a) <= t <= inv h P (h b) -> derivable_pt h t).
  { intros t. rewrite !inv_left by assumption. intros ht. exists (h' t). apply is_derive_Reals, D, B, ht. }
  assert (C : continuity_pt (inv h P) (h z)).
  { apply (continuity_pt_recip_prelim h (inv h P) a b); [lra| | | |split; apply h_increasing; assumption].
    - intros; apply h_increasing; [apply B; lra|apply B; lra|lra].
    - intros; unfold comp, id. apply inv_left, B; assumption.
    - intros t ht. apply continuity_pt_filterlim, @ex_derive_continuous. exists (h' t). apply D, B, ht. }
  assert (Prg : inv h P (h a) <= inv h P (h z) <= inv h P (h b)) by (rewrite !inv_left by assumption; lra).
  assert (E : derive_pt h (inv h P (h z)) (Prf _ Prg) = h' z).
  { apply derive_pt_eq_0. rewrite inv_left by exact hz. apply is_derive_Reals, D, hz. }
  apply is_derive_Reals. rewrite <- E. replace (/ derive_pt h (inv h P (h z)) (Prf _ Prg)) with (1 / derive_pt h (inv h P (h z)) (Prf _ Prg)) by (unfold Rdiv; ring).
  apply (derivable_pt_lim_recip_interv h (inv h P) (h a) (h b) (h z) Prf C).
  - apply h_increasing; [assumption|assumption|lra].
  - split; apply h_increasing; assumption.
  - intros t ht. unfold comp, id. apply inv_right, (image_convex (h a) (h b)); [exists a|exists b|]; auto.
  - rewrite E. generalize (positive z hz). lra.
Qed.
End Inverse.
(* ------------------------------------------------------------------ *)
(* (f) refutations *)

(* f is differentiable at b, with differential p: along every curve through b (Hadamard; in R^d the same as Frechet) *)
Definition differential d (f : (nat -> R) -> R) (b p : nat -> R) :=
  forall (c : R -> nat -> R) v, (forall i, c 0 i = b i) -> (forall i, (i < d)%nat -> is_derive (fun s => c s i) 0 (v i)) ->
  is_derive (fun s => f (c s)) 0 (dot d p v).

(* ------------------------------------------------------------------ *)
(* for the generated files *)

Lemma is_derive_arcsinh x : is_derive arcsinh x (/ sqrt (x ^ 2 + 1)).
Proof. apply is_derive_Reals, derivable_pt_lim_arcsinh. Qed.
(* The claim of a refutation: near w0 no gradient G (of a three times differentiable Q, whose derivatives are symmetric)
   and no positive differentiable g on the weights have (G o F)' = g * steering along the flow, whatever the steering. *)
Definition velocity p (F : (nat -> R) -> nat -> R) (a : nat) (w : nat -> R) (c : R -> nat -> R) :=
  (forall k, c 0 k = w k) /\ forall k, (k < p)%nat -> exists l, partial (fun v => F v a) k w l /\ is_derive (fun s => c s k) 0 l.
Definition near n (x y : nat -> R) (eps : R) := forall k, (k < n)%nat -> Rabs (x k - y k) < eps.
Definition no_potential p d (F : (nat -> R) -> nat -> R) (w0 : nat -> R) :=
  forall (G : nat -> (nat -> R) -> R) (Hess : nat -> nat -> (nat -> R) -> R) (T : nat -> nat -> nat -> R)
    (g : (nat -> R) -> R) (Dg : nat -> R) (eps : R), 0 < eps ->
  (forall b i, near d b (F w0) eps -> (i < d)%nat -> differential d (G i) b (fun j => Hess i j b)) ->
  (forall i j, (i < d)%nat -> (j < d)%nat -> Hess i j (F w0) = Hess j i (F w0)) ->
  (forall i j, (i < d)%nat -> (j < d)%nat -> differential d (Hess i j) (F w0) (T i j)) ->
  (forall i j k, (i < d)%nat -> (j < d)%nat -> (k < d)%nat -> T i j k = T j i k /\ T i j k = T i k j) ->
  0 < g w0 -> differential p g w0 Dg ->
  (forall w a c i, near p w w0 eps -> (a < d)%nat -> (i < d)%nat -> velocity p F a w c ->
     is_derive (fun s => G i (F (c s))) 0 (g w * kron i a)) ->
  False.

Definition line (w v : nat -> R) (s : R) : nat -> R := fun k => w k + s * v k.

Lemma derive_near (f : R -> R) l e : is_derive f 0 l -> 0 < e -> locally 0 (fun s => Rabs (f s - f 0) < e).
Proof.
  intros D h. assert (C : continuous f 0) by (apply @ex_derive_continuous; exists l; exact D).
  apply (C (fun y => Rabs (y - f 0) < e)). exists (mkposreal e h). intros y hy. exact hy.
Qed.
Lemma locally_all n (P : nat -> R -> Prop) : (forall k, (k < n)%nat -> locally 0 (P k)) -> locally 0 (fun s => forall k, (k < n)%nat -> P k s).
Proof.
  induction n as [|n IH]; intros H; [apply filter_forall; intros; lia|].
  generalize (filter_and _ _ (IH (fun k hk => H k (Nat.lt_lt_succ_r _ _ hk))) (H n (Nat.lt_succ_diag_r n))). apply filter_imp.
  intros s [A B] k hk. destruct (Nat.eq_dec k n) as [->|]; [exact B|apply A; lia].
Qed.

(* ---- derivatives by structure: the derivative of what is written, written alike *)
Lemma d_const (c x : R) : is_derive (fun _ => c) x 0.
Proof. apply @is_derive_const. Qed.
Lemma d_id (x : R) : is_derive (fun s => s) x 1.
Proof. apply @is_derive_id. Qed.
Lemma d_over (c : R) (f : R -> R) x a : is_derive f x a -> is_derive (fun s => f s / c) x (a / c).
Proof. intros A. apply (is_derive_ext (fun s => scal (/ c) (f s))); [intros; as_R; apply Rmult_comm|]. evar_last; [apply @is_derive_scal; eassumption|]. as_R; unfold Rdiv; ring. Qed.
Lemma d_plus (f g : R -> R) x a b : is_derive f x a -> is_derive g x b -> is_derive (fun s => f s + g s) x (a + b).
Proof. intros. apply @is_derive_plus; assumption. Qed.
Lemma d_minus (f g : R -> R) x a b : is_derive f x a -> is_derive g x b -> is_derive (fun s => f s - g s) x (a - b).
Proof. intros. apply @is_derive_minus; assumption. Qed.
Lemma d_opp (f : R -> R) x a : is_derive f x a -> is_derive (fun s => - f s) x (- a).
Proof. intros. apply @is_derive_opp; assumption. Qed.
Lemma d_mult (f g : R -> R) x a b : is_derive f x a -> is_derive g x b -> is_derive (fun s => f s * g s) x (a * g x + f x * b).
Proof. intros. apply (is_derive_mult f g x a b); [assumption|assumption|intros; apply Rmult_comm]. Qed.
Lemma d_scal (c : R) (g : R -> R) x b : is_derive g x b -> is_derive (fun s => c * g s) x (c * b).
Proof. intros. evar_last. apply d_mult; [apply @is_derive_const|eassumption]. as_R; ring. Qed.
Lemma d_comp (u f : R -> R) x a b : is_derive u (f x) b -> is_derive f x a -> is_derive (fun s => u (f s)) x (b * a).
Proof. intros. evar_last. apply (is_derive_comp u f); eassumption. as_R; ring. Qed.
Lemma d_div (f g : R -> R) x a b : g x <> 0 -> is_derive f x a -> is_derive g x b -> is_derive (fun s => f s / g s) x ((a * g x - f x * b) / (g x * g x)).
Proof. intros N A B. evar_last. apply (is_derive_div f g); eassumption. as_R; field; exact N. Qed.
Lemma d_pow (f : R -> R) n c x a : c = INR (S n) -> is_derive f x a -> is_derive (fun s => f s ^ S n) x (c * f x ^ n * a).
Proof. intros -> A. evar_last. apply (d_comp (fun y => y ^ S n) f); [|eassumption]. apply is_derive_Reals, derivable_pt_lim_pow. simpl pred. ring. Qed.
Lemma d_sqrt (f : R -> R) x a : 0 < f x -> is_derive f x a -> is_derive (fun s => sqrt (f s)) x (a / (2 * sqrt (f x))).
Proof. intros P A. evar_last. apply (d_comp sqrt f); [|eassumption]. auto_derive; [exact P|reflexivity]. field. apply Rgt_not_eq, sqrt_lt_R0, P. Qed.
Lemma d_exp (f : R -> R) x a : is_derive f x a -> is_derive (fun s => exp (f s)) x (exp (f x) * a).
Proof. intros. apply (d_comp exp f); [apply is_derive_exp|assumption]. Qed.
Lemma d_ln (f : R -> R) x a : 0 < f x -> is_derive f x a -> is_derive (fun s => ln (f s)) x (a / f x).
Proof. intros P A. evar_last. apply (d_comp ln f); [apply is_derive_ln; exact P|eassumption]. field. lra. Qed.
Lemma d_arcsinh (f : R -> R) x a : is_derive f x a -> is_derive (fun s => arcsinh (f s)) x (a / sqrt (f x ^ 2 + 1)).
Proof. intros. evar_last. apply (d_comp arcsinh f); [apply is_derive_arcsinh|eassumption]. unfold Rdiv; ring. Qed.
Lemma d_sin (f : R -> R) x a : is_derive f x a -> is_derive (fun s => sin (f s)) x (cos (f x) * a).
Proof. intros. apply (d_comp sin f); [apply is_derive_sin|assumption]. Qed.
Lemma d_cos (f : R -> R) x a : is_derive f x a -> is_derive (fun s => cos (f s)) x (- sin (f x) * a).
Proof. intros. apply (d_comp cos f); [apply is_derive_cos|assumption]. Qed.
Lemma d_atan (f : R -> R) x a : is_derive f x a -> is_derive (fun s => atan (f s)) x (a / (1 + f x ^ 2)).
Proof.
  intros. evar_last; [apply (d_comp atan f); [apply is_derive_atan|eassumption]|]. unfold Rsqr.
  assert (0 <= f x ^ 2) by apply pow2_ge_0. replace (f x * f x) with (f x ^ 2) by ring. field. lra.
Qed.
Lemma d_Rpower (f : R -> R) c x a : 0 < f x -> is_derive f x a -> is_derive (fun s => Rpower (f s) c) x (c * Rpower (f x) c / f x * a).
Proof. intros P A. unfold Rpower. evar_last. apply d_exp, d_scal, d_ln; eassumption. cbv beta. unfold Rdiv; ring. Qed.

Lemma d_sinh (f : R -> R) x a : is_derive f x a -> is_derive (fun s => sinh (f s)) x (cosh (f x) * a).
Proof. intros. apply (d_comp sinh f); [apply is_derive_Reals, derivable_pt_lim_sinh|assumption]. Qed.
Lemma d_cosh (f : R -> R) x a : is_derive f x a -> is_derive (fun s => cosh (f s)) x (sinh (f x) * a).
Proof. intros. apply (d_comp cosh f); [apply is_derive_Reals, derivable_pt_lim_cosh|assumption]. Qed.
Lemma cosh_pos x : 0 < cosh x.
Proof. unfold cosh. generalize (exp_pos x) (exp_pos (- x)). lra. Qed.
Lemma cos_rule x : cos x ^ 2 = 1 - sin x ^ 2.
Proof. generalize (sin2_cos2 x). unfold Rsqr. simpl. lra. Qed.
Lemma arcsinh_positive u : 0 < u + sqrt (u ^ 2 + 1).
Proof.
  assert (P : 0 <= u ^ 2) by apply pow2_ge_0. assert (S : 0 < sqrt (u ^ 2 + 1)) by (apply sqrt_lt_R0; lra).
  destruct (Rle_lt_dec 0 u); [lra|]. assert (E : sqrt (u ^ 2 + 1) * sqrt (u ^ 2 + 1) = u ^ 2 + 1) by (apply sqrt_sqrt; lra).
  nra.
Qed.
Lemma cosh_sqr x : cosh x ^ 2 = 1 + sinh x ^ 2.
Proof. unfold cosh, sinh. rewrite exp_Ropp. field. apply Rgt_not_eq, exp_pos. Qed.
Lemma d_tanh (f : R -> R) x a : is_derive f x a -> is_derive (fun s => tanh (f s)) x ((1 - tanh (f x) ^ 2) * a).
Proof.
  intros A. unfold tanh. assert (N : cosh (f x) <> 0) by apply Rgt_not_eq, cosh_pos.
  evar_last; [apply (d_div (fun s => sinh (f s)) (fun s => cosh (f s))); [exact N|apply d_sinh; eassumption|apply d_cosh; eassumption]|].
  cbv beta. field [(cosh_sqr (f x))]. exact N.
Qed.

(* Hess Q (F w) K w = g w 1 at w0, and its derivatives in each weight: linear equations on H, T = dH/dbeta, g and h = dg,
   where DK m is dK/dw_m; where they have no solution with g > 0, there is no potential *)
Theorem no_potential_by p d F (J : nat -> (nat -> R) -> nat -> R) (K : nat -> nat -> (nat -> R) -> R) (DK : nat -> nat -> nat -> R) w0 :
  (forall w a k, (a < d)%nat -> (k < p)%nat -> partial (fun v => F v a) k w (J a w k)) ->
  (forall w a i, (a < d)%nat -> (i < d)%nat -> is_derive (fun s => F (line w (J a w) s) i) 0 (K i a w)) ->
  (forall m j k, (m < p)%nat -> (j < d)%nat -> (k < d)%nat -> is_derive (fun s => K j k (line w0 (kron m) s)) 0 (DK m j k)) ->
  (forall H T g h, 0 < g -> (forall i j, (i < d)%nat -> (j < d)%nat -> H i j = H j i) ->
     (forall i j k, (i < d)%nat -> (j < d)%nat -> (k < d)%nat -> T i j k = T j i k /\ T i j k = T i k j) ->
     (forall i k, (i < d)%nat -> (k < d)%nat -> Sum d (fun j => H i j * K j k w0) = g * kron i k) ->
     (forall m i k, (m < p)%nat -> (i < d)%nat -> (k < d)%nat ->
        Sum d (fun j => Sum d (fun l => T i j l * J l w0 m) * K j k w0 + H i j * DK m j k) = h m * kron i k) -> False) ->
  no_potential p d F w0.
Proof.
  intros HJ HK HD C G Hess T g Dg eps heps DG SH DH ST gp Dg' L.
  assert (L0 : forall w v, line w v 0 = w).
  { intros w v. apply FunctionalExtensionality.functional_extensionality. intros k. unfold line. ring. }
  assert (DL : forall w v k, is_derive (fun s => line w v s k) 0 (v k)).
  { intros w v k. unfold line. auto_derive; [exact I|ring]. }
  assert (HKg : forall w i k, near p w w0 eps -> near d (F w) (F w0) eps -> (i < d)%nat -> (k < d)%nat ->
     Sum d (fun j => Hess i j (F w) * K j k w) = g w * kron i k).
  { intros w i k hw hb hi hk.
    assert (D1 : is_derive (fun s => G i (F (line w (J k w) s))) 0 (g w * kron i k)).
    { apply L; try assumption. split; [intros; rewrite L0; reflexivity|]. intros m hm. exists (J k w m). split; [apply HJ; assumption|apply DL]. }
    assert (D2 : is_derive (fun s => G i (F (line w (J k w) s))) 0 (dot d (fun j => Hess i j (F w)) (fun j => K j k w))).
    { apply (DG (F w) i hb hi (fun s => F (line w (J k w) s))); intros; [rewrite L0; reflexivity|apply HK; assumption]. }
    apply is_derive_unique in D1. apply is_derive_unique in D2. unfold dot in D2. congruence. }
  assert (HF : forall m i, (m < p)%nat -> (i < d)%nat -> is_derive (fun s => F (line w0 (kron m) s) i) 0 (J i w0 m)).
  { intros m i hm hi. apply (is_derive_ext (fun s => F (upd w0 m (w0 m + s)) i)).
    - intros s. f_equal. apply FunctionalExtensionality.functional_extensionality. intros k. unfold upd, line, kron.
      destruct (Nat.eqb_spec k m) as [->|n]; [rewrite Nat.eqb_refl; ring|destruct (Nat.eqb_spec m k); [congruence|ring]].
    - evar_last; [apply (d_comp (fun x => F (upd w0 m x) i) (fun s => w0 m + s)); [rewrite Rplus_0_r; apply HJ; assumption|auto_derive; [exact I|reflexivity]]|ring]. }
  apply (C (fun i j => Hess i j (F w0)) T (g w0) (fun m => dot p Dg (kron m))); try assumption.
  - intros i k hi hk. apply HKg; try assumption; intros n hn; rewrite Rminus_eq_0, Rabs_R0; exact heps.
  - intros m i k hm hi hk.
    assert (D1 : is_derive (fun s => Sum d (fun j => Hess i j (F (line w0 (kron m) s)) * K j k (line w0 (kron m) s))) 0
      (Sum d (fun j => Sum d (fun l => T i j l * J l w0 m) * K j k w0 + Hess i j (F w0) * DK m j k))).
    { apply (Sum_derive d (fun j s => Hess i j (F (line w0 (kron m) s)) * K j k (line w0 (kron m) s))). intros j hj.
      evar_last; [apply (is_derive_mult (fun s => Hess i j (F (line w0 (kron m) s))) (fun s => K j k (line w0 (kron m) s)));
        [apply (DH i j hi hj (fun s => F (line w0 (kron m) s)) (fun l => J l w0 m)); intros; [rewrite L0; reflexivity|apply HF; assumption]
        |apply HD; assumption|intros; apply Rmult_comm]|]. rewrite L0. reflexivity. }
    assert (D2 : is_derive (fun s => Sum d (fun j => Hess i j (F (line w0 (kron m) s)) * K j k (line w0 (kron m) s))) 0 (dot p Dg (kron m) * kron i k)).
    { apply (is_derive_ext_loc (fun s => g (line w0 (kron m) s) * kron i k)).
      - generalize (locally_all p (fun n s => Rabs (line w0 (kron m) s n - line w0 (kron m) 0 n) < eps) (fun n _ => derive_near _ _ eps (DL w0 (kron m) n) heps)).
        generalize (locally_all d (fun n s => Rabs (F (line w0 (kron m) s) n - F (line w0 (kron m) 0) n) < eps) (fun n hn => derive_near _ _ eps (HF m n hm hn) heps)).
        intros A B. generalize (filter_and _ _ A B). apply filter_imp. rewrite L0. intros s [N1 N2]. symmetry. apply HKg; assumption.
      - apply (is_derive_scal_l (fun s => g (line w0 (kron m) s)) 0 (dot p Dg (kron m)) (kron i k)). apply (Dg' (line w0 (kron m))); intros; [rewrite L0; reflexivity|apply DL]. }
    apply is_derive_unique in D1. apply is_derive_unique in D2. congruence.
Qed.

(* ---- signs, by the form of what is written *)
Lemma even_ge0 n x : Nat.even n = true -> 0 <= x ^ n.
Proof. intros E. apply Nat.even_spec in E. destruct E as [m ->]. rewrite pow_mult. apply pow_le, pow2_ge_0. Qed.
Lemma even_gt0 n x : Nat.even n = true -> x <> 0 -> 0 < x ^ n.
Proof. intros E N. destruct (even_ge0 n x E) as [|Z]; [assumption|]. destruct (pow_nonzero x n N). auto. Qed.

Lemma ge0_off x : 0 <= x -> x <> 0 -> 0 < x.
Proof. intros [h|<-] n; [exact h|destruct (n eq_refl)]. Qed.
Lemma tanh_below x : 0 < 1 - tanh x.
Proof.
  unfold tanh. assert (C : 0 < cosh x) by apply cosh_pos. replace (1 - sinh x / cosh x) with (exp (- x) / cosh x).
  - apply Rdiv_lt_0_compat; [apply exp_pos|exact C].
  - unfold cosh, sinh in *. field. lra.
Qed.
Lemma tanh_above x : 0 < tanh x + 1.
Proof.
  unfold tanh. assert (C : 0 < cosh x) by apply cosh_pos. replace (sinh x / cosh x + 1) with (exp x / cosh x).
  - apply Rdiv_lt_0_compat; [apply exp_pos|exact C].
  - unfold cosh, sinh in *. field. lra.
Qed.
Lemma off_0 x : 0 < x -> x <> 0.
Proof. lra. Qed.
(* equations say nothing of signs *)
Ltac no_equations := repeat match goal with H : @eq R _ _ |- _ => clear H end.
Ltac lin := no_equations; lra.
Ltac pos := first [assumption | lazymatch goal with
  | |- 0 < exp _ => apply exp_pos
  | |- 0 < 1 - tanh _ => apply tanh_below
  | |- 0 < tanh _ + 1 => apply tanh_above
  | |- 0 < cosh _ => apply cosh_pos
  | |- 0 < Rpower _ _ => apply exp_pos
  | |- 0 < sqrt _ => apply sqrt_lt_R0; pos
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; pos
  | |- 0 < _ / _ => apply Rdiv_lt_0_compat; pos
  | |- 0 < / _ => apply Rinv_0_lt_compat; pos
  | |- 0 < _ ^ _ => first [apply even_gt0; [reflexivity|nz] | apply pow_lt; pos]
  | |- 0 < _ + _ => first [apply ge0_off; [|assumption]; apply Rplus_le_le_0_compat; nn
      | apply Rplus_le_lt_0_compat; [nn|pos] | apply Rplus_lt_le_0_compat; [pos|nn]]
  end | lin]
with nn := first [assumption | lazymatch goal with
  | |- 0 <= exp _ => left; apply exp_pos
  | |- 0 <= cosh _ => left; apply cosh_pos
  | |- 0 <= sqrt _ => apply sqrt_pos
  | |- 0 <= _ * _ => apply Rmult_le_pos; nn
  | |- 0 <= _ / _ => apply Rdiv_le_0_compat; [nn|pos]
  | |- 0 <= _ ^ _ => first [apply even_ge0; reflexivity | apply pow_le; nn]
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; nn
  | |- _ => left; assumption
  end | lin]
with nz := first [assumption | lazymatch goal with
  | |- _ * _ <> 0 => apply Rmult_integral_contrapositive_currified; nz
  | |- _ / _ <> 0 => apply Rmult_integral_contrapositive_currified; [nz|apply Rinv_neq_0_compat; nz]
  | |- _ ^ _ <> 0 => apply pow_nonzero; nz
  | |- - _ <> 0 => apply Ropp_neq_0_compat; nz
  end | apply off_0; pos | no_equations; intro; lra].
Ltac sides := repeat match goal with |- _ /\ _ => split end; try exact I;
  first [nz | match goal with |- ?e <> 0 => ring_simplify e; nz end].

(* ---- powers and roots *)
Lemma root_rule e : 0 <= e -> sqrt e ^ 2 = e.
Proof. apply pow2_sqrt. Qed.
Lemma root_is e r : 0 <= r -> r ^ 2 = e -> sqrt e = r.
Proof. intros h <-. apply sqrt_pow2; exact h. Qed.
Lemma power_rule e r n : 0 < e -> r * INR n = 1 -> Rpower e r ^ n = e.
Proof. intros P E. rewrite <- Rpower_pow by apply exp_pos. rewrite Rpower_mult, E. apply Rpower_1; exact P. Qed.
Lemma power_is e r s n : s = INR n * r -> Rpower e s = Rpower e r ^ n.
Proof. intros ->. rewrite <- Rpower_pow by apply exp_pos. rewrite Rpower_mult. f_equal. ring. Qed.
Lemma power_root e r b n : 0 < b -> r * INR n = 1 -> b ^ n = e -> Rpower e r = b.
Proof. intros P E <-. rewrite <- Rpower_pow by exact P. rewrite Rpower_mult, Rmult_comm, E. apply Rpower_1; exact P. Qed.
Lemma exp_is e r : 0 < r -> e = ln r -> exp e = r.
Proof. intros P ->. apply exp_ln; exact P. Qed.
Lemma pow_increasing n a b : 0 <= a -> a < b -> a ^ S n < b ^ S n.
Proof.
  intros h l. induction n as [|n IH]; [simpl; lra|]. change (a * a ^ S n < b * b ^ S n).
  assert (0 <= a ^ S n) by (apply pow_le; exact h). nra.
Qed.
Lemma same_power n a b : 0 <= a -> 0 <= b -> a ^ S n = b ^ S n -> a = b.
Proof.
  intros ha hb E. destruct (Rtotal_order a b) as [l|[l|l]]; [|exact l|].
  - generalize (pow_increasing n a b ha l). lra.
  - generalize (pow_increasing n b a hb l). lra.
Qed.
(* logarithms of products of positive things *)
Ltac logs := repeat first [rewrite ln_mult by pos | rewrite ln_div by pos | rewrite ln_Rinv by pos | rewrite ln_pow by pos | rewrite ln_1 | rewrite ln_exp];
  simpl INR.

Ltac fact := first [assumption | apply Rgt_not_eq; assumption].
Ltac diff := cbv beta; lazymatch goal with
  | |- is_derive (fun _ => ?c) _ _ => apply d_const
  | |- is_derive (fun s => s) _ _ => apply d_id
  | |- is_derive (fun s => @?f s + @?g s) _ _ => apply (d_plus f g); diff
  | |- is_derive (fun s => @?f s - @?g s) _ _ => apply (d_minus f g); diff
  | |- is_derive (fun s => - @?f s) _ _ => apply (d_opp f); diff
  | |- is_derive (fun s => @?f s * @?g s) _ _ => lazymatch f with (fun _ => ?c) => apply (d_scal c g); diff | _ => apply (d_mult f g); diff end
  | |- is_derive (fun s => @?f s / @?g s) _ _ => lazymatch g with (fun _ => ?c) => apply (d_over c f); diff | _ => apply (d_div f g); [fact|diff|diff] end
  | |- is_derive (fun s => @?f s ^ (@?n s)) _ _ => lazymatch n with (fun _ => S ?n) =>
      let c := eval cbv in (Z.of_nat (S n)) in apply (d_pow f n (IZR c)); [rewrite INR_IZR_INZ; reflexivity|diff] end
  | |- is_derive (fun s => sqrt (@?f s)) _ _ => apply (d_sqrt f); [fact|diff]
  | |- is_derive (fun s => exp (@?f s)) _ _ => apply (d_exp f); diff
  | |- is_derive (fun s => ln (@?f s)) _ _ => apply (d_ln f); [fact|diff]
  | |- is_derive (fun s => arcsinh (@?f s)) _ _ => apply (d_arcsinh f); diff
  | |- is_derive (fun s => atan (@?f s)) _ _ => apply (d_atan f); diff
  | |- is_derive (fun s => sin (@?f s)) _ _ => apply (d_sin f); diff
  | |- is_derive (fun s => cos (@?f s)) _ _ => apply (d_cos f); diff
  | |- is_derive (fun s => sinh (@?f s)) _ _ => apply (d_sinh f); diff
  | |- is_derive (fun s => cosh (@?f s)) _ _ => apply (d_cosh f); diff
  | |- is_derive (fun s => tanh (@?f s)) _ _ => apply (d_tanh f); diff
  | |- is_derive (fun s => Rpower (@?f s) (@?c s)) _ _ => lazymatch c with (fun _ => ?c) => apply (d_Rpower f c); [fact|diff] end
  | _ => eassumption
  end.

(* ---- the weights *)
Lemma flow_at p d rate F w lam : flow p d rate F w lam -> forall t k J, 0 <= t -> (k < p)%nat ->
  (forall i, (i < d)%nat -> partial (fun v => F v i) k (w t) (J i)) -> is_derive (fun s => w s k) t (rate k (w t) * dot d J (lam t)).
Proof.
  intros [_ H] t k J ht hk P. destruct (H t k ht hk) as [J' [P' D]]. replace (dot d J (lam t)) with (dot d J' (lam t)); [exact D|].
  apply Sum_ext. intros i hi. specialize (P i hi). specialize (P' i hi). apply is_derive_unique in P. apply is_derive_unique in P'. congruence.
Qed.
Lemma Sum_continuous n (f : nat -> R -> R) t : (forall i, (i < n)%nat -> continuous (f i) t) -> continuous (fun s => Sum n (fun i => f i s)) t.
Proof. induction n as [|n IH]; intros H; simpl; [apply continuous_const|]. apply (continuous_plus (fun s => Sum n (fun i => f i s))); auto. Qed.
Lemma moving n (f : R -> R) (c : nat -> R -> R) (lam : R -> nat -> R) : (forall t j, 0 <= t -> (j < n)%nat -> continuous (fun s => lam s j) t) ->
  (forall j t, 0 <= t -> (j < n)%nat -> ex_derive (c j) t) -> (forall t, 0 <= t -> is_derive f t (Sum n (fun j => c j t * lam t j) * f t)) ->
  0 < f 0 -> forall t, 0 <= t -> 0 < f t.
Proof.
  intros L C D P. apply (keeps_sign f (fun t => Sum n (fun j => c j t * lam t j))); [exact D| |exact P].
  intros t ht. apply (Sum_continuous n (fun j s => c j s * lam s j)). intros j hj.
  apply (continuous_mult (c j) (fun s => lam s j)); [apply @ex_derive_continuous, C; assumption|apply L; assumption].
Qed.
(* what never is 0 keeps its sign *)
Lemma off_zero (f : R -> R) : (forall t, 0 <= t -> ex_derive f t) -> (forall t, 0 <= t -> f t <> 0) -> 0 < f 0 ->
  forall t, 0 <= t -> 0 < f t.
Proof.
  intros D N P t ht. destruct (Rlt_le_dec 0 (f t)) as [|l]; [assumption|exfalso].
  assert (h : f t < 0) by (destruct l as [|E]; [assumption|destruct (N t ht E)]).
  assert (0 < t) by (destruct ht as [|<-]; lra).
  destruct (IVT_interv (fun s => - f s) 0 t) as [c [hc E]]; [| assumption | lra | lra |].
  - intros s hs. apply continuity_pt_filterlim. apply (continuous_opp f). apply @ex_derive_continuous, D. lra.
  - apply (N c); lra.
Qed.
Ltac hyps := intros; repeat match goal with H : _ /\ _ |- _ => destruct H end.
(* One output along a curve beta = f z on the open interval where P holds; Q explicit in beta is f z = z.
   height x z is Q where x = f z, mu its slope, k is K *)
Record curve (P : R -> Prop) (f df : R -> R) (height : R -> R -> R) (mu k : R -> R) : Prop := {
  curve_convex : forall x y z, P x -> P y -> x <= z <= y -> P z;
  curve_opened : forall z, P z -> locally z P;
  curve_moves : forall z, P z -> is_derive f z (df z);
  curve_rises : forall z, P z -> 0 < df z;
  curve_height : forall z, P z -> is_derive (fun z => height (f z) z) z (mu z * df z);
  curve_mu : forall z, P z -> is_derive mu z (df z / k z);
  curve_positive : forall z, P z -> 0 < k z
}.
(* and the flow of a copy, whose weights are at T on the curve *)
Record copy (P : R -> Prop) (f mu k : R -> R) (beta T K lam : R -> R) : Prop := {
  copy_inside : forall t, 0 <= t -> P (T t);
  copy_beta : forall t, 0 <= t -> f (T t) = beta t;
  copy_moves : forall t, 0 <= t -> is_derive beta t (K t * lam t);
  copy_inverse : forall t, 0 <= t -> k (T t) = K t;
  copy_start : mu (T 0) = 0
}.
Theorem copies d (V : nat -> nat -> R) (X : nat -> (nat -> R) -> R) (dom P : nat -> R -> Prop) (f df : nat -> R -> R)
  (height : nat -> R -> R -> R) (mu k : nat -> R -> R) (beta lam nu : R -> nat -> R) (T K : nat -> R -> R) :
  (forall j b, (j < d)%nat -> X j b = dot d (V j) b) -> (forall b c, (forall j, (j < d)%nat -> X j b = X j c) -> agree d b c) ->
  (forall t i, 0 <= t -> (i < d)%nat -> lam t i = Sum d (fun j => V j i * nu t j)) ->
  (forall i, (i < d)%nat -> curve (P i) (f i) (df i) (height i) (mu i) (k i)) ->
  (forall i x, (i < d)%nat -> dom i x <-> image (f i) (P i) x) ->
  (forall i, (i < d)%nat -> copy (P i) (f i) (mu i) (k i) (fun t => X i (beta t)) (T i) (K i) (fun t => nu t i)) ->
  regularizes d (fun b => forall i, (i < d)%nat -> dom i (X i b)) (fun b => Sum d (fun i => height i (X i b) (inv (f i) (P i) (X i b)))) beta lam.
Proof.
  intros linear told steered U I C.
  assert (L : forall i z, (i < d)%nat -> P i z -> inv (f i) (P i) (f i z) = z) by (intros i z hi; destruct (U i hi); apply (inv_left (P i) (f i) (df i)); assumption).
  assert (A : forall i t, (i < d)%nat -> 0 <= t -> inv (f i) (P i) (X i (beta t)) = T i t).
  { intros i t hi ht. destruct (C i hi) as [c1 c2 _ _ _]. rewrite <- c2 by exact ht. apply L; auto. }
  assert (D : forall i x, (i < d)%nat -> dom i x -> exists z, P i z /\ x = f i z /\ inv (f i) (P i) x = z /\ is_derive (inv (f i) (P i)) x (/ df i z) /\ locally x (image (f i) (P i))).
  { intros i x hi hx. apply I in hx; [|exact hi]. destruct (U i hi). assert (hx' := hx). destruct hx' as [z [hz <-]]. exists z.
    assert (E := L i z hi hz). split; [exact hz|]. split; [reflexivity|]. split; [exact E|]. split.
    - rewrite <- E at 2. apply (inv_derive (P i) (f i) (df i)); assumption.
    - apply (image_open (P i) (f i) (df i)); assumption. }
  apply (separable d V X dom (fun i x => height i x (inv (f i) (P i) x)) (fun i x => mu i (inv (f i) (P i) x)) (fun i x => 1 / k i (inv (f i) (P i) x)) beta lam (fun t i => K i t) nu); try assumption.
  - intros i x y z hi hx hy h. apply I; [exact hi|]. generalize (proj1 (I i x hi) hx) (proj1 (I i y hi) hy). intros a b. destruct (U i hi).
    apply (image_convex (P i) (f i) (df i)) with (x := x) (y := y); assumption.
  - intros i x hi hx. destruct (D i x hi hx) as [z [hz [E [E' [W N]]]]]. destruct (U i hi).
    apply (is_derive_ext_loc (fun x => (fun z => height i (f i z) z) (inv (f i) (P i) x))).
    + revert N. apply filter_imp. intros y [v [hv <-]]. rewrite (L i v hi hv). reflexivity.
    + rewrite E'. evar_last; [apply (d_comp (fun z => height i (f i z) z)); [rewrite E'; apply curve_height0, hz|exact W]|].
      field. apply Rgt_not_eq, curve_rises0, hz.
  - intros i x hi hx. destruct (D i x hi hx) as [z [hz [E [E' [W N]]]]]. destruct (U i hi). rewrite E'.
    evar_last; [apply (d_comp (mu i)); [rewrite E'; apply curve_mu0, hz|exact W]|]. field.
    split; apply Rgt_not_eq; [apply curve_positive0|apply curve_rises0]; exact hz.
  - intros i x hi hx. destruct (D i x hi hx) as [z [hz [E [E' _]]]]. rewrite E'. apply Rdiv_lt_0_compat; [lra|apply (U i hi), hz].
  - intros t i ht hi. apply I; [exact hi|]. destruct (C i hi). exists (T i t). auto.
  - intros t i ht hi. apply (C i hi), ht.
  - intros t i ht hi. rewrite (A i t hi ht), (copy_inverse _ _ _ _ _ _ _ _ (C i hi) t ht). field. apply Rgt_not_eq.
    rewrite <- (copy_inverse _ _ _ _ _ _ _ _ (C i hi) t ht). apply (U i hi), (C i hi), ht.
  - intros i hi. rewrite (A i 0 hi (Rle_refl 0)). apply (C i hi).
Qed.
(* each output a coordinate *)
Lemma kron_linear d j (b : nat -> R) : (j < d)%nat -> b j = dot d (kron j) b.
Proof.
  intros hj. unfold dot, kron. rewrite (Sum_ext d _ (fun i => if Nat.eqb i j then b i else 0)), Sum_delta; [reflexivity|exact hj|].
  intros i _. rewrite Nat.eqb_sym. destruct (Nat.eqb i j); ring.
Qed.
Lemma kron_steered d i (mu : nat -> R) : (i < d)%nat -> mu i = Sum d (fun j => kron j i * mu j).
Proof.
  intros hi. rewrite (Sum_ext d _ (fun j => if Nat.eqb j i then mu j else 0)), Sum_delta; [reflexivity|exact hi|].
  intros j _. unfold kron. destruct (Nat.eqb j i); ring.
Qed.

(* towards the end with the sign s: s f = g + r, where r grows that way and g has no bound *)
Lemma far (P : R -> Prop) (f g r k : R -> R) s : s * s = 1 -> (forall x y z, P x -> P y -> x <= z <= y -> P z) -> P 0 ->
  (forall z, P z -> s * f z = g z + r z) -> (forall z, P z -> is_derive r z (s * k z)) -> (forall z, P z -> 0 <= k z) ->
  (forall y, exists z, P z /\ 0 <= s * z /\ y <= g z) -> forall x, exists z, P z /\ x <= s * f z.
Proof.
  intros S C O E D N G x. destruct (G (x - r 0)) as [z [hz [h hg]]]. exists z. split; [exact hz|]. rewrite E by exact hz.
  enough (r 0 <= r z) by lra.
  assert (B : forall y, Rmin 0 z <= y <= Rmax 0 z -> P y).
  { intros y. unfold Rmin, Rmax. destruct (Rle_dec 0 z); intros; [apply (C 0 z)|apply (C z 0)]; assumption. }
  destruct (MVT_gen r 0 z (fun z => s * k z)) as [c [hc V]].
  - intros y hy. apply D, B. lra.
  - intros y hy. apply continuity_pt_filterlim, @ex_derive_continuous. exists (s * k y). apply D, B, hy.
  - assert (0 <= k c * (s * z)) by (apply Rmult_le_pos; [apply N, B, hc|exact h]). lra.
Qed.
Lemma large c n y : 0 < c -> (0 < n)%nat -> y <= c * (1 + (y / c) ^ 2) ^ n.
Proof.
  intros h hn. set (u := y / c). replace y with (c * u) by (unfold u; field; lra). apply Rmult_le_compat_l; [lra|].
  assert (B : 1 <= 1 + u ^ 2) by (generalize (pow2_ge_0 u); lra). apply Rle_trans with ((1 + u ^ 2) ^ 1); [nra|].
  apply Rle_pow; [exact B|lia].
Qed.
(* beta itself is the coordinate *)
Lemma explicit_image (P : R -> Prop) x : P x <-> image (fun z => z) P x.
Proof. split; [intros h; exists x; auto|intros [z [h <-]]; exact h]. Qed.
Lemma open_and (P Q : R -> Prop) z : locally z P -> locally z Q -> locally z (fun y => P y /\ Q y).
Proof. apply filter_and. Qed.
Lemma open_above (f : R -> R) z : ex_derive f z -> 0 < f z -> locally z (fun y => 0 < f y).
Proof. intros D h. apply (ex_derive_continuous f z D (fun y => 0 < y)), (open_gt 0), h. Qed.
Lemma Sum_le n f h : (forall i, (i < n)%nat -> f i <= h i) -> Sum n f <= Sum n h.
Proof. induction n as [|n IH]; intros H; simpl; [lra|]. apply Rplus_le_compat; auto. Qed.
Lemma Sum_term n f k : (k < n)%nat -> (forall i, (i < n)%nat -> 0 <= f i) -> f k <= Sum n f.
Proof.
  induction n as [|n IH]; intros hk H; [lia|]. simpl. assert (0 <= Sum n f) by (apply Sum_ge0; auto).
  assert (0 <= f n) by auto. destruct (Nat.eq_dec k n) as [->|]; [lra|]. assert (f k <= Sum n f) by (apply IH; [lia|auto]). lra.
Qed.
(* sums of what is differentiable times steering *)
Ltac cont := cbv beta; lazymatch goal with
  | |- continuous (fun s => @?f s + @?g s) _ => apply (continuous_plus f g); cont
  | |- continuous (fun s => @?f s * @?g s) _ => apply (continuous_mult f g); [apply @ex_derive_continuous; eexists; diff|auto]
  | _ => apply continuous_const
  end.
(* what moves by multiples of itself and starts at 0 stays there *)
Lemma rests n (z : nat -> R -> R) (a : nat -> nat -> R -> R) :
  (forall k t, (k < n)%nat -> 0 <= t -> is_derive (z k) t (Sum n (fun j => a k j t * z j t))) ->
  (forall k j t, (k < n)%nat -> (j < n)%nat -> 0 <= t -> continuous (a k j) t) ->
  (forall k, (k < n)%nat -> z k 0 = 0) -> forall k t, (k < n)%nat -> 0 <= t -> z k t = 0.
Proof.
  intros D C Z k T hk hT.
  set (h := fun t => Sum n (fun k => z k t ^ 2)). set (m := fun t => Sum n (fun k => Sum n (fun j => a k j t ^ 2 + 1))).
  assert (Cm : forall t, 0 <= t -> continuous m t).
  { intros t ht. apply (Sum_continuous n (fun k s => Sum n (fun j => a k j s ^ 2 + 1))). intros i hi.
    apply (Sum_continuous n (fun j s => a i j s ^ 2 + 1)). intros j hj.
    apply (continuous_comp (a i j) (fun y => y ^ 2 + 1)); [apply C; assumption|].
    apply @ex_derive_continuous. auto_derive. exact I. }
  destruct (continuity_ab_maj m 0 T hT) as [x [M _]].
  { intros t ht. apply continuity_pt_filterlim, Cm. lra. }
  assert (Hp : forall t, 0 <= h t) by (intros t; apply Sum_ge0; intros; apply pow2_ge_0).
  assert (Dh : forall t, 0 <= t -> is_derive h t (Sum n (fun k => 2 * z k t * Sum n (fun j => a k j t * z j t)))).
  { intros t ht. apply (Sum_derive n (fun k s => z k s ^ 2)). intros i hi. evar_last; [apply (d_pow _ 1 2); [simpl; lra|apply D; assumption]|]. simpl. ring. }
  assert (B : forall t, 0 <= t -> Sum n (fun k => 2 * z k t * Sum n (fun j => a k j t * z j t)) <= m t * h t).
  { intros t ht. unfold m. rewrite Rmult_comm, <- Sum_scal. apply Sum_le. intros i hi. rewrite <- !Sum_scal. apply Sum_le. intros j hj.
    assert (z i t ^ 2 <= h t) by (apply (Sum_term n (fun k => z k t ^ 2)); [exact hi|intros; apply pow2_ge_0]).
    assert (z j t ^ 2 <= h t) by (apply (Sum_term n (fun k => z k t ^ 2)); [exact hj|intros; apply pow2_ge_0]).
    assert (0 <= a i j t ^ 2) by apply pow2_ge_0. assert (0 <= (a i j t * z i t - z j t) ^ 2) by apply pow2_ge_0. nra. }
  assert (E : h T <= 0).
  { destruct (MVT_gen (fun t => h t * exp (- (m x * t))) 0 T
      (fun t => (Sum n (fun k => 2 * z k t * Sum n (fun j => a k j t * z j t)) - m x * h t) * exp (- (m x * t)))) as [c [hc E]];
      rewrite ?Rmin_left, ?Rmax_right in * by lra.
    - intros t ht. evar_last; [apply (d_mult h (fun t => exp (- (m x * t)))); [apply Dh; lra|apply (d_exp (fun t => - (m x * t))), (d_opp (fun t => m x * t)), (d_scal (m x) (fun t => t)), d_id]|]. cbv beta. ring.
    - intros t ht. apply continuity_pt_filterlim.
      apply (ex_derive_continuous (fun t => h t * exp (- (m x * t)))). eexists. apply (d_mult h (fun t => exp (- (m x * t)))); [apply Dh; lra|apply (d_exp (fun t => - (m x * t))), (d_opp (fun t => m x * t)), (d_scal (m x) (fun t => t)), d_id].
    - assert (H0 : h 0 = 0). { unfold h. rewrite (Sum_ext n _ (fun _ => 0)), Sum_0; [reflexivity|]. intros i hi. rewrite Z by exact hi. ring. }
      rewrite H0, Rmult_0_l, Rminus_0_r in E.
      assert (m c <= m x) by (apply M; lra). assert (Bc := B c ltac:(lra)). assert (Hc := Hp c).
      assert (Pc := exp_pos (- (m x * c))). assert (PT := exp_pos (- (m x * T))).
      assert (Sum n (fun k => 2 * z k c * Sum n (fun j => a k j c * z j c)) - m x * h c <= 0) by nra.
      assert ((Sum n (fun k => 2 * z k c * Sum n (fun j => a k j c * z j c)) - m x * h c) * exp (- (m x * c)) <= 0) by nra.
      assert (h T * exp (- (m x * T)) <= 0) by nra. nra. }
  assert (z k T ^ 2 <= h T) by (apply (Sum_term n (fun k => z k T ^ 2)); [exact hk|intros; apply pow2_ge_0]).
  assert (z k T ^ 2 = 0) by (generalize (pow2_ge_0 (z k T)); lra). nra.
Qed.
(* ------------------------------------------------------------------ *)
(* beta = phi u with a vector u, the weights from the m-th on, of which phi is independent: Q = q(|b|^2) - <u_0, b> *)
Lemma dot_scal d c x z : dot d (fun i => c * x i) z = c * dot d x z.
Proof. unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros; ring. Qed.
Lemma dot_comm d x z : dot d x z = dot d z x.
Proof. apply Sum_ext; intros; ring. Qed.
Lemma dot_ge0 d x : 0 <= dot d x x.
Proof. apply Sum_ge0; intros; nra. Qed.
Lemma dot_square d a x b z : dot d (fun i => a * x i - b * z i) (fun i => a * x i - b * z i) = a ^ 2 * dot d x x - 2 * a * b * dot d x z + b ^ 2 * dot d z z.
Proof. unfold dot. rewrite <- !Sum_scal, <- Sum_minus, <- Sum_plus. apply Sum_ext; intros; ring. Qed.
(* <x, z> <= a b for lengths a, b *)
Lemma cauchy d x z a b : 0 <= a -> 0 <= b -> dot d x x = a ^ 2 -> dot d z z = b ^ 2 -> dot d x z <= a * b.
Proof.
  intros ha hb Ea Eb. assert (P := dot_ge0 d (fun i => b * x i - a * z i)). rewrite dot_square, Ea, Eb in P.
  destruct (Req_dec a 0) as [->|na].
  - right. rewrite Rmult_0_l. unfold dot. rewrite (Sum_ext d _ (fun _ => 0)), Sum_0; [reflexivity|]. intros i hi.
    assert (Z : x i * x i = 0) by (apply (Sum_eq0 d (fun i => x i * x i)); [intros; nra|rewrite pow_i in Ea by lia; exact Ea|exact hi]).
    apply Rmult_integral in Z. destruct Z as [-> | ->]; ring.
  - destruct (Req_dec b 0) as [->|nb].
    + right. rewrite Rmult_0_r. unfold dot. rewrite (Sum_ext d _ (fun _ => 0)), Sum_0; [reflexivity|]. intros i hi.
      assert (Z : z i * z i = 0) by (apply (Sum_eq0 d (fun i => z i * z i)); [intros; nra|rewrite pow_i in Eb by lia; exact Eb|exact hi]).
      apply Rmult_integral in Z. destruct Z as [-> | ->]; ring.
    + assert (0 < a * b) by (apply Rmult_lt_0_compat; lra). apply (Rmult_le_reg_l (a * b)); [assumption|]. nra.
Qed.

Section Radial.
Variables (m d : nat) (rate : nat -> (nat -> R) -> R) (phi : (nat -> R) -> R) (r : R) (u_0 : nat -> R) (w lam : R -> nat -> R).
Variables (P : R -> Prop) (q p dp : R -> R).
Let u t := tail m (w t).
Hypothesis H : flow (m + d) d rate (fun v i => phi v * tail m v i) w lam.
Hypothesis apart : forall v i x, phi (upd v (m + i) x) = phi v.
Hypothesis same : forall i v, rate (m + i)%nat v = r.
Hypothesis from : forall i, (i < d)%nat -> tail m (w 0) i = u_0 i.

Lemma turns t k l : 0 <= t -> (k < m)%nat -> partial phi k (w t) l -> is_derive (fun s => w s k) t (rate k (w t) * l * dot d (u t) (lam t)).
Proof.
  intros ht hk L. rewrite Rmult_assoc, <- dot_scal. apply (flow_at _ _ _ _ _ _ H); [exact ht|lia|]. intros i hi. unfold partial.
  apply (is_derive_ext (fun x => phi (upd (w t) k x) * u t i)).
  - intros x. unfold u, tail. f_equal. unfold upd. destruct (Nat.eqb_spec (m + i) k); [lia|reflexivity].
  - apply (is_derive_scal_l (fun x => phi (upd (w t) k x)) (w t k) l (u t i)). exact L.
Qed.
Lemma turned t i : 0 <= t -> (i < d)%nat -> is_derive (fun s => u s i) t (r * phi (w t) * lam t i).
Proof.
  intros ht hi. evar_last.
  - apply (flow_at _ _ _ _ _ _ H t (m + i) (fun j => phi (w t) * kron i j)); [exact ht|lia|]. intros j hj. unfold partial.
    apply (is_derive_ext (fun x => phi (w t) * upd (w t) (m + i) x (m + j))); [intros x; rewrite apart; reflexivity|].
    apply is_derive_scal. unfold upd, kron. destruct (Nat.eqb_spec i j) as [->|n].
    + rewrite Nat.eqb_refl. apply d_id.
    + destruct (Nat.eqb_spec (m + j) (m + i)); [lia|apply d_const].
  - rewrite same, dot_scal, <- kron_linear by exact hi. ring.
Qed.
Lemma lengthens t : 0 <= t -> is_derive (fun s => dot d (u s) (u s)) t (2 * (r * phi (w t)) * dot d (u t) (lam t)).
Proof.
  intros ht. rewrite <- dot_scal. evar_last; [apply (Sum_derive d (fun i s => u s i * u s i)); intros i hi; apply d_mult; apply turned; assumption|].
  apply Sum_ext. intros i hi. ring.
Qed.

Lemma pushes t (j : nat) : 0 <= t -> (j < 1)%nat -> continuous (fun s => dot d (u s) (lam s)) t.
Proof.
  intros ht _. apply (Sum_continuous d (fun i s => u s i * lam s i)). intros i hi.
  apply (continuous_mult (fun s => u s i) (fun s => lam s i)); [|apply (proj1 H); assumption].
  apply @ex_derive_continuous. eexists. apply turned; assumption.
Qed.

Hypothesis upward : forall x y, P x -> x <= y -> P y.
Hypothesis q' : forall n, 0 <= n -> P n -> is_derive q n (p n / 2).
Hypothesis p' : forall n, 0 <= n -> P n -> is_derive p n (dp n).
Hypothesis across : forall n, 0 <= n -> P n -> 0 < p n.
Hypothesis beyond : forall n, 0 <= n -> P n -> 0 < p n + 2 * n * dp n.
Hypothesis inside : forall t, 0 <= t -> P (phi (w t) ^ 2 * dot d (u t) (u t)).
Hypothesis inverse : forall t, 0 <= t -> p (phi (w t) ^ 2 * dot d (u t) (u t)) * phi (w t) = 1.
Hypothesis pushed : forall t, 0 <= t -> 0 < r * phi (w t).

(* the excess of q over its tangent, as a function of lengths *)
Lemma tangent s s' : 0 <= s -> 0 <= s' -> P (s ^ 2) -> P (s' ^ 2) -> s <> s' -> q (s ^ 2) + s * p (s ^ 2) * (s' - s) < q (s' ^ 2).
Proof.
  intros hs hs' h h' n. assert (S : forall s, is_derive (fun s => s ^ 2) s (2 * s)) by (intros x; auto_derive; [exact I|ring]).
  apply (bregman_one (fun s => 0 <= s /\ P (s ^ 2)) (fun s => q (s ^ 2)) (fun s => s * p (s ^ 2)) (fun s => p (s ^ 2) + 2 * s ^ 2 * dp (s ^ 2))); auto.
  - intros x y z [hx Px] [hy Py] hz. split; [lra|]. apply (upward (x ^ 2)); [exact Px|apply pow_incr; lra].
  - intros x [hx Px]. evar_last; [apply (d_comp q (fun s => s ^ 2)); [apply q'; [apply pow2_ge_0|exact Px]|apply S]|]. field.
  - intros x [hx Px]. evar_last; [apply (d_mult (fun s => s)); [apply d_id|apply (d_comp p (fun s => s ^ 2)); [apply p'; [apply pow2_ge_0|exact Px]|apply S]]|cbv beta]. ring.
  - intros x [hx Px]. apply beyond; [apply pow2_ge_0|exact Px].
Qed.

Theorem radial : regularizes d (fun b => P (dot d b b)) (fun b => q (dot d b b) - dot d u_0 b) (fun t i => phi (w t) * u t i) lam.
Proof.
  set (G := fun b i => p (dot d b b) * b i - u_0 i).
  assert (Gv : forall b v, dot d (G b) v = p (dot d b b) * dot d b v - dot d u_0 v).
  { intros b v. unfold G, dot. rewrite <- Sum_scal, <- Sum_minus. apply Sum_ext; intros; ring. }
  assert (N : forall t, dot d (fun i => phi (w t) * u t i) (fun i => phi (w t) * u t i) = phi (w t) ^ 2 * dot d (u t) (u t)).
  { intros t. unfold dot. rewrite <- Sum_scal. apply Sum_ext; intros; cbv beta; ring. }
  assert (B : forall b c, P (dot d b b) -> P (dot d c c) -> exists e, 0 <= e /\ (e = 0 -> agree d b c) /\
    q (dot d c c) - dot d u_0 c = q (dot d b b) - dot d u_0 b + dot d (G b) (fun i => c i - b i) + e).
  { intros b c hb hc. exists (q (dot d c c) - q (dot d b b) - p (dot d b b) * (dot d b c - dot d b b)).
    assert (hp := across _ (dot_ge0 d b) hb). set (s := sqrt (dot d b b)). set (s' := sqrt (dot d c c)).
    assert (Es : dot d b b = s ^ 2) by (symmetry; apply pow2_sqrt, dot_ge0). assert (Es' : dot d c c = s' ^ 2) by (symmetry; apply pow2_sqrt, dot_ge0).
    assert (hs : 0 <= s) by apply sqrt_pos. assert (hs' : 0 <= s') by apply sqrt_pos.
    assert (C := cauchy d b c s s' hs hs' Es Es'). rewrite Es, Es' in *.
    assert (hC : 0 <= p (s ^ 2) * (s * s' - dot d b c)) by (apply Rmult_le_pos; lra).
    destruct (Req_dec s s') as [E|ne].
    - rewrite <- E in *. split; [lra|]. split.
      + intros Z i hi. assert (Z' : p (s ^ 2) * (s * s - dot d b c) = 0) by (simpl in *; nra).
        apply Rmult_integral in Z'. destruct Z' as [Z'|Z']; [lra|].
        assert (D := dot_square d 1 b 1 c). rewrite Es, Es' in D. apply Rminus_diag_uniq.
        assert (Zi : (1 * b i - 1 * c i) * (1 * b i - 1 * c i) = 0).
        { apply (Sum_eq0 d (fun i => (1 * b i - 1 * c i) * (1 * b i - 1 * c i))); [intros; apply Rle_0_sqr| |exact hi].
          fold (dot d (fun i => 1 * b i - 1 * c i) (fun i => 1 * b i - 1 * c i)). rewrite D. lra. }
        apply Rmult_integral in Zi. lra.
      + rewrite Gv, Es. unfold dot at 3 4. rewrite (Sum_ext d (fun i => b i * (c i - b i)) (fun i => b i * c i - b i * b i)), (Sum_ext d (fun i => u_0 i * (c i - b i)) (fun i => u_0 i * c i - u_0 i * b i)), !Sum_minus by (intros; ring).
        fold (dot d b c) (dot d b b) (dot d u_0 c) (dot d u_0 b). rewrite Es. ring.
    - assert (T := tangent s s' hs hs' hb hc ne). split; [lra|]. split; [intros Z; exfalso; lra|].
      rewrite Gv, Es. unfold dot at 3 4. rewrite (Sum_ext d (fun i => b i * (c i - b i)) (fun i => b i * c i - b i * b i)), (Sum_ext d (fun i => u_0 i * (c i - b i)) (fun i => u_0 i * c i - u_0 i * b i)), !Sum_minus by (intros; ring).
      fold (dot d b c) (dot d b b) (dot d u_0 c) (dot d u_0 b). rewrite Es. ring. }
  apply (mirror_regularizes d _ _ G _ u lam (fun t => r * phi (w t))). constructor.
  - intros t ht. rewrite N. apply inside, ht.
  - intros b hb v. rewrite Gv.
    assert (D1 : is_derive (fun s => dot d (fun i => b i + s * v i) (fun i => b i + s * v i)) 0 (2 * dot d b v)).
    { rewrite <- dot_scal. evar_last; [apply (Sum_derive d (fun i s => (b i + s * v i) * (b i + s * v i)) (fun i => 2 * b i * v i))|]; [|apply Sum_ext; intros; ring].
      intros i hi. auto_derive; [exact I|ring]. }
    assert (D2 : is_derive (fun s => dot d u_0 (fun i => b i + s * v i)) 0 (dot d u_0 v)).
    { apply (Sum_derive d (fun i s => u_0 i * (b i + s * v i))). intros i hi. auto_derive; [exact I|ring]. }
    assert (E : dot d (fun i => b i + 0 * v i) (fun i => b i + 0 * v i) = dot d b b) by (apply Sum_ext; intros; ring).
    evar_last; [apply (d_minus (fun s => q (dot d (fun i => b i + s * v i) (fun i => b i + s * v i)))); [|exact D2]|].
    + apply (d_comp q); [|exact D1]. rewrite E. apply q'; [apply dot_ge0|exact hb].
    + field.
  - intros b c hb hc. destruct (B b c hb hc) as [e [h [_ ->]]]. lra.
  - intros b c hb hc E. destruct (B b c hb hc) as [e [h [Z E']]]. apply Z. lra.
  - intros b f hb T i hi. apply (is_lim_minus' (fun t => p (dot d (f t) (f t)) * f t i) (fun _ => u_0 i)); [|apply tends_const].
    apply tends_mult; [|apply T; exact hi]. apply (tends_comp p).
    + apply @ex_derive_continuous. exists (dp (dot d b b)). apply p'; [apply dot_ge0|exact hb].
    + apply (tends_Sum d (fun i t => f t i * f t i)). intros; apply tends_mult; auto.
  - intros t i ht hi. unfold G. rewrite N, <- Rmult_assoc, (inverse t ht). rewrite <- (from i hi). fold (u 0). ring.
  - intros t i ht hi. apply turned; assumption.
  - exact pushed.
Qed.
End Radial.
Lemma flow_ext p d rate F F' w lam : (forall v i, (i < d)%nat -> F v i = F' v i) -> flow p d rate F w lam -> flow p d rate F' w lam.
Proof.
  intros E [C H]. split; [exact C|]. intros t k ht hk. destruct (H t k ht hk) as [J [P D]]. exists J. split; [|exact D].
  intros i hi. apply (is_derive_ext (fun x => F (upd (w t) k x) i)); [intros; apply E, hi|apply P, hi].
Qed.
(* what grows with one of its terms *)
Ltac up := first [assumption | apply Rle_refl | lazymatch goal with
  | |- _ + _ <= _ + _ => apply Rplus_le_compat; up
  | |- _ - _ <= _ - _ => apply Rplus_le_compat; up
  | |- _ / _ <= _ / _ => apply Rmult_le_compat_r; [left; pos|up]
  | |- _ * _ <= _ * _ => apply Rmult_le_compat_l; [nn|up]
  | |- sqrt _ <= sqrt _ => apply sqrt_le_1_alt; up
  | |- _ ^ _ <= _ ^ _ => apply pow_incr; split; [nn|up]
  end].
(* ------------------------------------------------------------------ *)
(* Q of several outputs that is convex by its second derivative, on a convex domain *)
Section Coupled.
Variables (d : nat) (dom : (nat -> R) -> Prop) (Q : (nat -> R) -> R) (G : (nat -> R) -> nat -> R) (S : (nat -> R) -> (nat -> R) -> R).
Variables (beta y lam : R -> nat -> R) (g : R -> R).
Hypothesis convex : forall b c s, dom b -> dom c -> 0 <= s <= 1 -> dom (fun i => b i + s * (c i - b i)).
Hypothesis alike : forall b c, agree d b c -> Q b = Q c.
Hypothesis slope : forall (c : R -> nat -> R) s v, dom (c s) -> (forall i, (i < d)%nat -> is_derive (fun r => c r i) s (v i)) ->
  is_derive (fun r => Q (c r)) s (dot d (G (c s)) v).
Hypothesis second : forall (c : R -> nat -> R) s v, dom (c s) -> (forall i, (i < d)%nat -> is_derive (fun r => c r i) s (v i)) ->
  is_derive (fun r => dot d (G (c r)) v) s (S (c s) v).
Hypothesis definite : forall b v, dom b -> 0 <= S b v /\ (S b v = 0 -> forall i, (i < d)%nat -> v i = 0).
Hypothesis steady : forall b f, dom b -> (forall i, (i < d)%nat -> tends (fun t => f t i) (b i)) ->
  forall i, (i < d)%nat -> tends (fun t => G (f t) i) (G b i).
Hypothesis inside : forall t, 0 <= t -> dom (beta t).
Hypothesis dual : forall t i, 0 <= t -> (i < d)%nat -> G (beta t) i = y t i - y 0 i.
Hypothesis moves : forall t i, 0 <= t -> (i < d)%nat -> is_derive (fun s => y s i) t (g t * lam t i).
Hypothesis warped : forall t, 0 <= t -> 0 < g t.

Theorem coupled : regularizes d dom Q beta lam.
Proof.
  assert (B : forall b c, dom b -> dom c -> ~ agree d b c -> Q b + dot d (G b) (fun i => c i - b i) < Q c).
  { intros b c hb hc n. set (v := fun i => c i - b i). set (l := fun s i => b i + s * v i).
    assert (L : forall s, 0 <= s <= 1 -> dom (l s)) by (intros s hs; apply convex; assumption).
    assert (D : forall s i, (i < d)%nat -> is_derive (fun r => l r i) s (v i)) by (intros s i _; unfold l; auto_derive; [exact I|ring]).
    assert (E0 : l 0 = b) by (apply FunctionalExtensionality.functional_extensionality; intros i; unfold l; ring).
    assert (E1 : l 1 = c) by (apply FunctionalExtensionality.functional_extensionality; intros i; unfold l, v; ring).
    assert (P : forall s, 0 <= s <= 1 -> 0 < S (l s) v).
    { intros s hs. destruct (definite (l s) v (L s hs)) as [[h|Z] U]; [exact h|]. exfalso. apply n. intros i hi.
      generalize (U (eq_sym Z) i hi). unfold v. lra. }
    generalize (bregman_one (fun s => 0 <= s <= 1) (fun s => Q (l s)) (fun s => dot d (G (l s)) v) (fun s => S (l s) v)
      ltac:(intros; lra) ltac:(intros; apply slope; [apply L; assumption|apply D])
      ltac:(intros; apply second; [apply L; assumption|apply D]) P 0 1 ltac:(lra) ltac:(lra) ltac:(lra)). rewrite E0, E1. lra. }
  assert (Z : forall b c, agree d b c -> Q b + dot d (G b) (fun i => c i - b i) = Q c).
  { intros b c E. rewrite (alike b c E). unfold dot. rewrite (Sum_ext d _ (fun _ => 0)), Sum_0; [ring|].
    intros i hi. rewrite (E i hi). ring. }
  apply (mirror_regularizes d dom Q G beta y lam g). constructor; try assumption.
  - intros b hb v. set (l := fun s i => b i + s * v i).
    assert (E0 : l 0 = b) by (apply FunctionalExtensionality.functional_extensionality; intros i; unfold l; ring).
    rewrite <- E0 at 1. apply (slope l 0 v); [rewrite E0; exact hb|]. intros i _. unfold l. auto_derive; [exact I|ring].
  - intros b c hb hc. destruct (classic (agree d b c)) as [E|n]; [right; apply Z, E|left; apply B; assumption].
  - intros b c hb hc E. destruct (classic (agree d b c)) as [A|n]; [exact A|]. generalize (B b c hb hc n). lra.
Qed.
End Coupled.
(* without convexity *)
Theorem mirrored d (dom : (nat -> R) -> Prop) (Q : (nat -> R) -> R) (G : (nat -> R) -> nat -> R) (beta lam : R -> nat -> R) g :
  (forall (c : R -> nat -> R) s v, dom (c s) -> (forall i, (i < d)%nat -> is_derive (fun r => c r i) s (v i)) ->
    is_derive (fun r => Q (c r)) s (dot d (G (c s)) v)) -> (forall i, (i < d)%nat -> G (beta 0) i = 0) ->
  (forall t i, 0 <= t -> (i < d)%nat -> is_derive (fun s => G (beta s) i) t (g t * lam t i)) -> (forall t, 0 <= t -> 0 < g t) ->
  follows_mirror d dom Q beta lam.
Proof.
  intros slope start moves warped. exists G, g. split; [|split; [exact start|split; [exact warped|intros; apply moves; [lra|assumption]]]].
  intros b hb v. set (l := fun s i => b i + s * v i).
  assert (E0 : l 0 = b) by (apply FunctionalExtensionality.functional_extensionality; intros i; unfold l; ring).
  rewrite <- E0 at 1. apply (slope l 0 v); [rewrite E0; exact hb|]. intros i _. unfold l. auto_derive; [exact I|ring].
Qed.
Lemma between s x y z : 0 <= s <= 1 -> 0 < x -> 0 < y -> 0 <= z -> 0 < (1 - s) * x + s * y + s * (1 - s) * z.
Proof.
  intros [h1 h2] hx hy hz. assert (0 <= s * (1 - s) * z) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|exact hz]).
  destruct (Req_dec s 0) as [->|n]; [lra|]. assert (0 < s * y) by (apply Rmult_lt_0_compat; lra).
  assert (0 <= (1 - s) * x) by (apply Rmult_le_pos; lra). lra.
Qed.
Lemma square_0 c x : 0 < c -> c * x ^ 2 = 0 -> x = 0.
Proof. intros h E. apply Rmult_integral in E. destruct E as [E|E]; [lra|]. destruct (Req_dec x 0) as [Z|n]; [exact Z|]. generalize (pow_lt x 2). destruct (pow_nonzero x 2 n E). Qed.
Lemma square_off x : 0 < x ^ 2 -> x <> 0.
Proof. intros h ->. simpl in h. lra. Qed.
(* limits of what is written *)
Lemma tends_minus f h l m : tends f l -> tends h m -> tends (fun t => f t - h t) (l - m).
Proof. apply is_lim_minus'. Qed.
Lemma tends_unary (u : R -> R) f l : ex_derive u l -> tends f l -> tends (fun t => u (f t)) (u l).
Proof. intros D. apply tends_comp, (ex_derive_continuous u l D). Qed.
Ltac unary := eexists; lazymatch goal with
  | |- is_derive sqrt _ _ => apply (d_sqrt (fun x => x)); [fact|apply d_id]
  | |- is_derive ln _ _ => apply (d_ln (fun x => x)); [fact|apply d_id]
  | |- is_derive exp _ _ => apply is_derive_exp
  | |- is_derive arcsinh _ _ => apply is_derive_arcsinh
  | |- is_derive atan _ _ => apply is_derive_atan
  end.
Ltac lim := cbv beta; first [assumption | lazymatch goal with
  | |- tends (fun _ => ?c) _ => apply tends_const
  | |- tends (fun t => @?f t + @?h t) (_ + _) => apply (tends_plus f h); lim
  | |- tends (fun t => @?f t - @?h t) (_ - _) => apply (tends_minus f h); lim
  | |- tends (fun t => - @?f t) (- ?l) => apply (tends_unary Ropp f l); [eexists; apply (d_opp (fun x => x)), d_id|lim]
  | |- tends (fun t => @?f t * @?h t) (_ * _) => apply (tends_mult f h); lim
  | |- tends (fun t => @?f t / @?h t) (_ / ?l) => apply (tends_mult f (fun t => / h t)); [lim|
      lazymatch h with (fun _ => ?c) => apply tends_const | _ => apply (tends_unary Rinv h l); [eexists; apply (is_derive_inv (fun x => x)); [apply d_id|fact]|lim] end]
  | |- tends (fun t => @?f t ^ ?n) (?l ^ _) => apply (tends_unary (fun x => x ^ n) f l); [auto_derive; exact I|lim]
  | |- tends (fun t => Rpower (@?f t) ?c) (Rpower ?l _) => apply (tends_unary (fun x => Rpower x c) f l); [eexists; apply (d_Rpower (fun x => x)); [fact|apply d_id]|lim]
  | |- tends (fun t => ?u (@?f t)) (_ ?l) => apply (tends_unary u f l); [unary|lim]
  end].
